"""Where a model comes from: the four forms of `model.source`, taken apart."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from .types import parse_path, wants

HF = re.compile(r"hf:([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?", re.ASCII)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
PYPI = re.compile(r"pypi:([A-Za-z0-9][\w.-]*)==([\w.!+-]+)#(.+)", re.ASCII)


@dataclass(frozen=True)
class Source:
    """`kind` decides which of the other fields are filled."""

    kind: Literal["folder", "gguf", "hf", "pypi"]
    path: str = ""
    """folder, gguf: on this machine. pypi: inside the wheel."""
    repo: str = ""
    revision: str = ""
    """hf: branch, tag or commit; empty = the repository's default."""
    distribution: str = ""
    version: str = ""


def parse_source(text: str) -> Source:
    """Takes a checked source apart; ValueError says which form is wanted."""
    if text.startswith("hf:"):
        if not (found := HF.fullmatch(text)):
            raise ValueError("hf:organisation/name or hf:organisation/name@revision")
        return Source("hf", repo=found[1], revision=found[2] or "")
    if text.startswith("pypi:"):
        found = PYPI.fullmatch(text)
        if not found or found[3].startswith("/") or ".." in found[3].split("/"):
            raise ValueError("pypi:distribution==version#path/inside/the/wheel")
        return Source("pypi", distribution=found[1], version=found[2], path=found[3])
    if SCHEME.match(text):
        raise ValueError("a folder, a .gguf file, hf:organisation/name or pypi:distribution==version#path")
    return Source("gguf" if text.lower().endswith(".gguf") else "folder", path=text)


def check_source(value: Any, info: ValidationInfo) -> str:
    """Local paths become absolute, as `FilePath` does."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise wants("a folder, a .gguf file, hf:organisation/name or pypi:distribution==version#path")
    try:
        source = parse_source(value)
    except ValueError as error:
        raise wants(str(error)) from error
    return parse_path(value, info) if source.kind in ("folder", "gguf") else value


def file_name(source: Source) -> str:
    return Path(source.path).name


INSIDE = r"(?!/)(?!(?:.*/)?\.\.(?:/|$)).+"
FORMS = "|".join((HF.pattern, PYPI.pattern.removesuffix("(.+)") + INSIDE, rf"(?!{SCHEME.pattern}).+"))
SourceText = Annotated[
    str, PlainValidator(check_source), WithJsonSchema({"type": "string", "pattern": f"^(?:{FORMS})$"})
]
