"""Runs under vLLM's own Python and asks its parser: JSON [[name, argv], ...] in, {name: error or ""} out."""

import contextlib
import dataclasses
import io
import json
import os
import sys
import warnings
from typing import Any

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")


def new_parser() -> Any:
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    top = FlexibleArgumentParser(prog="vllm")
    return top, make_arg_parser(top.add_subparsers(dest="subparser").add_parser("serve"))


def verdict(parser: Any, argv: list[str]) -> str:
    """Empty when the parser takes it and the engine's own classes know every nested key."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = parser.parse_args(["serve", *argv])
    except SystemExit:
        return next((line for line in reversed(said.getvalue().splitlines()) if "error:" in line), said.getvalue())
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return late(parsed)


def late(parsed: Any) -> str:
    """What the parser takes as any JSON and the engine refuses when it starts."""
    from vllm.config import SpeculativeConfig

    given = getattr(parsed, "speculative_config", None)
    if isinstance(given, dict):
        unknown = set(given) - {field.name for field in dataclasses.fields(SpeculativeConfig)}
        return f"no keys of SpeculativeConfig: {sorted(unknown)}" if unknown else ""
    return ""


def main() -> None:
    top, _ = new_parser()
    asked = json.load(sys.stdin)
    json.dump({name: verdict(top, argv) for name, argv in asked}, sys.stdout)


if __name__ == "__main__":
    main()
