"""Runs under vLLM's own Python: what its parser says to command lines, and what its config classes say to the result.

Input: JSON {"models": {purpose: folder}, "asked": [[name, argv], ...]}. Output: {name: [the parser's error or "", the
config classes' error or ""]}. The classes are built as for a start, on checkpoints without weights.
"""

import contextlib
import io
import json
import os
import re
import sys
import warnings
from typing import Any

os.environ |= {"VLLM_LOGGING_LEVEL": "CRITICAL", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
# Options that only a model with pictures has a config class for.
_PICTURES = re.compile(r"--(?:no-)?(?:mm-|limit-mm|media-io|allowed-(?:local-)?media|interleave-mm|video-pruning)")
# Drafts without a model of their own.
_WITHOUT_DRAFT = ("ngram", "[ngram]", "ngram_gpu", "suffix", "custom_class", "mtp")


def new_parser() -> Any:
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    top = FlexibleArgumentParser(prog="vllm")
    return top, make_arg_parser(top.add_subparsers(dest="subparser").add_parser("serve"))


def verdict(parser: Any, argv: list[str], models: dict[str, str]) -> tuple[str, str]:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = parser.parse_args(["serve", *argv])
    except SystemExit:
        return next((line for line in reversed(said.getvalue().splitlines()) if "error:" in line), said.getvalue()), ""
    except Exception as error:
        return f"{type(error).__name__}: {error}", ""
    pictures = any(_PICTURES.match(word.replace("_", "-")) for word in argv)
    return "", built(parsed, models["vision" if pictures else "text"], models["draft"])


def built(parsed: Any, model: str, draft: str) -> str:
    """Every config of the engine, as `vllm serve` builds them before it loads weights."""
    from vllm.engine.arg_utils import AsyncEngineArgs

    parsed.model, parsed.tokenizer = model, None
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            args = AsyncEngineArgs.from_cli_args(parsed)
            _complete(args, draft)
            _registered(args.create_engine_config(), parsed)
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _complete(args: Any, draft: str) -> None:
    """Examples show one key; the class wants its companions. draft: a checkpoint that is there."""
    guess = args.speculative_config
    if isinstance(guess, dict):
        guess.setdefault("num_speculative_tokens", 1)
        if not guess.get("model") and not guess.get("method"):
            guess["method"] = "ngram"
        elif guess.get("method") not in _WITHOUT_DRAFT and guess.get("model") not in _WITHOUT_DRAFT:
            guess["model"] = draft
    transfer = args.kv_transfer_config
    if transfer is not None:
        transfer.kv_connector = transfer.kv_connector or "ExampleConnector"
        transfer.kv_role = transfer.kv_role or "kv_both"


def _registered(config: Any, parsed: Any) -> None:
    """Names that no class checks and that the server looks up a moment later. Raises KeyError."""
    from vllm.model_executor.model_loader import _LOAD_FORMAT_TO_MODEL_LOADER
    from vllm.tokenizers.registry import TokenizerRegistry
    from vllm.tool_parsers import ToolParserManager

    if config.load_config.load_format not in _LOAD_FORMAT_TO_MODEL_LOADER:
        raise KeyError(f"load format {config.load_config.load_format}")
    if parsed.tool_call_parser and parsed.tool_call_parser not in ToolParserManager.list_registered():
        raise KeyError(f"tool parser {parsed.tool_call_parser}")
    if config.model_config.tokenizer_mode != "auto":
        TokenizerRegistry.load_tokenizer_cls(config.model_config.tokenizer_mode)


def main() -> None:
    top, _ = new_parser()
    given = json.load(sys.stdin)
    answers = {name: verdict(top, argv, given["models"]) for name, argv in given["asked"]}
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
