"""The reader of engine sources, on a small tree with every construct it has to understand."""

import json
from pathlib import Path

import pytest

from appliance.migrations.build.fetch import fetch
from appliance.migrations.build.history import decode, encode
from appliance.migrations.build.release_facts import ReleaseFacts, read_release
from appliance.migrations.catalogue import PATH, Catalogue

FILES = {
    "vllm/__init__.py": "",
    "vllm/envs.py": """
import os
from typing import TYPE_CHECKING, Literal
if TYPE_CHECKING:
    VLLM_SIZE: int = 4 * 1024
    VLLM_ALGORITHM: Literal["a", "b"] = "a"
    VLLM_PATH: str = os.path.expanduser("~/x")
environment_variables = {
    "VLLM_SIZE": lambda: int(os.getenv("VLLM_SIZE", "4096")),
    "VLLM_ALGORITHM": env_with_choices("VLLM_ALGORITHM", "a", ["a", "b"]),
    "VLLM_PATH": lambda: os.getenv("VLLM_PATH", os.path.expanduser("~/x")),
    "VLLM_UNDECLARED": lambda: bool(int(os.getenv("VLLM_UNDECLARED", "0"))),
}
""",
    "vllm/config/__init__.py": "from vllm.config.cache import CacheConfig, PassConfig\n",
    "vllm/config/utils.py": "def config(cls): return cls\n",
    "vllm/config/cache.py": '''
from dataclasses import field
from enum import IntEnum
from typing import Any, ClassVar, Literal, get_args
from pydantic import Field
from vllm.config.utils import config

CacheDType = Literal["auto", "fp8"]
METHODS = list(get_args(CacheDType))

class Mode(IntEnum):
    NONE = 0
    FULL = 1

@config
class PassConfig:
    fuse: bool | None = None
    """Whether to fuse."""

@config
class CacheConfig:
    DEFAULT_SIZE: ClassVar[int] = 16
    size: int = Field(default=DEFAULT_SIZE, gt=0)
    dtype: CacheDType = "auto"
    share: float = Field(default=0.9, ge=0, le=1)
    caching: bool | None = None
    names: list[str] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    mode: Mode = Mode.FULL
    passes: PassConfig = Field(default_factory=PassConfig)
    internal: int = field(default=0, init=False)
''',
    "vllm/engine/__init__.py": "",
    "vllm/engine/arg_utils.py": """
import argparse
import json
from vllm.config import CacheConfig, PassConfig
from vllm.config.cache import METHODS

class EngineArgs:
    dtype: str = CacheConfig.dtype

    @staticmethod
    def add_cli_args(parser):
        cache_kwargs = get_kwargs(CacheConfig)
        group = parser.add_argument_group(title="CacheConfig")
        group.add_argument("--cache-dtype", "-cd", **cache_kwargs["dtype"])
        group.add_argument("--size", **cache_kwargs["size"])
        group.add_argument("--share", **cache_kwargs["share"])
        group.add_argument("--enable-caching", **{**cache_kwargs["caching"], "default": True})
        group.add_argument("--names", **cache_kwargs["names"])
        cache_kwargs["extra"]["type"] = json.loads
        group.add_argument("--extra", **cache_kwargs["extra"])
        group.add_argument("--mode", **cache_kwargs["mode"])
        group.add_argument("--pass-config", "-pc", **cache_kwargs["passes"])
        parser.add_argument("--method", choices=[*METHODS, None], default=None)
        parser.add_argument("--plain-switch", action="store_true", help="x")
        if is_server():
            parser.add_argument("--only-there", type=int, default=EngineArgs.missing)
        for flag, kind in [("--old-text", str), ("--old-truth", bool)]:
            group.add_argument(flag, type=kind, deprecated=True)
        return parser

class AsyncEngineArgs(EngineArgs):
    @staticmethod
    def add_cli_args(parser):
        parser = EngineArgs.add_cli_args(parser)
        parser.add_argument("--log", action=argparse.BooleanOptionalAction, default=not False)
        return parser
""",
    "vllm/entrypoints/__init__.py": "",
    "vllm/entrypoints/cli_args.py": """
import json
from dataclasses import field
from vllm.config.utils import config
from vllm.engine.arg_utils import AsyncEngineArgs

@config
class BaseFrontendArgs:
    origins: list[str] = field(default_factory=lambda: ["*"])

    @classmethod
    def _customize_cli_kwargs(cls, frontend_kwargs):
        frontend_kwargs["origins"]["type"] = json.loads
        del frontend_kwargs["origins"]["nargs"]
        return frontend_kwargs

    @classmethod
    def add_cli_args(cls, parser):
        frontend_kwargs = get_kwargs(cls)
        frontend_kwargs = cls._customize_cli_kwargs(frontend_kwargs)
        for key, value in frontend_kwargs.items():
            parser.add_argument(f"--{key.replace('_', '-')}", **value)
        return parser

@config
class FrontendArgs(BaseFrontendArgs):
    tool_call_parser: str | None = None
    middleware: list[str] = field(default_factory=list)

    @classmethod
    def _customize_cli_kwargs(cls, frontend_kwargs):
        frontend_kwargs = super()._customize_cli_kwargs(frontend_kwargs)
        frontend_kwargs["middleware"]["action"] = "append"
        frontend_kwargs["middleware"]["type"] = str
        return frontend_kwargs

def make_arg_parser(parser):
    parser.add_argument("model_tag", nargs="?")
    parser = FrontendArgs.add_cli_args(parser)
    parser = AsyncEngineArgs.add_cli_args(parser)
    return parser
""",
    "vllm/entrypoints/cli/__init__.py": "",
    "vllm/entrypoints/cli/serve.py": """
from vllm.entrypoints.cli_args import make_arg_parser

class ServeSubcommand:
    def subparser_init(self, subparsers):
        serve_parser = subparsers.add_parser("serve")
        serve_parser = make_arg_parser(serve_parser)
        return serve_parser
""",
    "vllm/tool_parsers/__init__.py": '_TOOL_PARSERS_TO_REGISTER = {"hermes": ("file", "Class")}\n',
    "vllm-1.0.0.dist-info/METADATA": "Name: vllm\nRequires-Python: >=3.11\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_options(tree: Path) -> None:
    options = read_release(tree).options
    assert options["cache-dtype"] == {
        "type": "choice",
        "flags": ["-cd"],
        "values": ["auto", "fp8"],
        "default": "auto",
        "field": "CacheConfig.dtype",
    }
    assert options["size"]["default"] == 16 and options["size"]["bounds"] == {"gt": 0}
    assert options["share"] | {"field": ""} == {
        "type": "float",
        "default": 0.9,
        "bounds": {"ge": 0, "le": 1},
        "field": "",
    }
    assert options["enable-caching"]["negations"] == ["--no-enable-caching"]
    assert options["enable-caching"]["default"] is True
    assert (options["names"]["type"], options["names"]["nargs"]) == ("list", "+")
    assert (options["extra"]["type"], options["extra"]["default"]) == ("json", {})
    assert options["mode"] | {"field": ""} == {
        "type": "choice",
        "values": ["FULL", "NONE"],
        "numbered": True,
        "default": "FULL",
        "field": "",
    }
    assert (options["pass-config"]["type"], options["pass-config"]["of"]) == ("json", "PassConfig")
    assert options["method"]["values"] == ["auto", "fp8"]
    assert options["plain-switch"] == {"type": "bool", "default": False}
    assert options["only-there"]["default"] == {"computed": "EngineArgs.missing"}
    assert options["log"]["default"] is True
    assert options["old-truth"] == {"type": "bool", "nargs": 1, "default": None, "deprecated": True}
    assert options["origins"] | {"field": ""} == {"type": "json", "default": ["*"], "field": ""}
    assert options["middleware"]["repeats"] is True
    assert options["tool-call-parser"]["values"] == ["hermes"] and options["tool-call-parser"]["open"]


def test_classes_variables_and_python(tree: Path) -> None:
    facts = read_release(tree)
    assert set(facts.classes["CacheConfig"]) == {
        "size",
        "dtype",
        "share",
        "caching",
        "names",
        "extra",
        "mode",
        "passes",
    }
    assert facts.classes["CacheConfig"]["passes"]["of"] == "PassConfig"
    assert facts.env == {
        "VLLM_SIZE": {"type": "int", "default": 4096},
        "VLLM_ALGORITHM": {"type": "str", "default": "a", "values": ["a", "b"]},
        "VLLM_PATH": {"type": "str", "default": {"computed": "os.path.expanduser('~/x')"}},
        "VLLM_UNDECLARED": {"type": "bool", "default": "0"},
    }
    assert facts.python == ">=3.11"


def test_sources_of_another_shape_are_refused(tmp_path: Path) -> None:
    (tmp_path / "vllm").mkdir()
    with pytest.raises(LookupError, match="serve"):
        read_release(tmp_path)


def test_text_keeps_what_was_read(tree: Path) -> None:
    facts = read_release(tree)
    later = ReleaseFacts(
        {name: item for name, item in facts.options.items() if name != "size"}
        | {"new": {"type": "int", "default": None}},
        facts.classes,
        facts.env | {"VLLM_SIZE": {"type": "int", "default": 8}},
        ">=3.12",
    )
    known = {"1.0.0": facts, "1.1.0": later, "1.2.0": facts}
    assert decode(encode(known)) == known
    assert encode(decode(encode(known))) == encode(known)


def test_next_release_extends_the_committed_catalogue(tree: Path) -> None:
    committed = decode(PATH.read_text())
    assert encode(committed) == PATH.read_text()
    book = Catalogue(json.loads(encode(committed | {"9.0.0": read_release(tree)})))
    assert str(book.newest) == "9.0.0"
    assert book.options["model"].exists(0) and not book.options["model"].exists(len(book.releases) - 1)
    assert book.options["plain-switch"].intervals == ((len(book.releases) - 1, len(book.releases) - 1),)


def test_sources_that_lie_there_are_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "1.0.0").mkdir()
    assert fetch("1.0.0", tmp_path) == tmp_path / "1.0.0"
