"""Nodes -> plain Python data: what an unquoted word means, references replaced, aliases followed within limits."""

import re
from collections.abc import Mapping as Environment
from typing import Any

from ..diagnostics import Diagnostic, Severity
from .document import Document
from .interpolate import BadReferenceError, interpolate
from .nodes import Node, Path, Scalar, Sequence, dotted
from .quoting import printable
from .reader import MAX_DEPTH, MAX_NODES

NULL = frozenset(["", "~", "null", "Null", "NULL"])
TRUE = frozenset(["true", "True", "TRUE"])
FALSE = frozenset(["false", "False", "FALSE"])
YES = frozenset(["yes", "Yes", "YES", "on", "On", "ON", "y", "Y"])
NO = frozenset(["no", "No", "NO", "off", "Off", "OFF", "n", "N"])
INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
RADIX = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")
DISPUTED = re.compile(r"[-+]?0[0-9_]+|[-+]?[0-9][0-9]*_[0-9_]+|[-+]?0b[01_]+")
SWITCHES = "endpoints"
SECRETS = ("security", "api_keys")


class DisputedError(ValueError):
    """A word that YAML 1.1 and 1.2 read differently: (code, fact, fix)."""


def word(raw: str, is_switch: bool = False) -> Any:
    """What an unquoted scalar means."""
    if raw in NULL:
        return None
    if raw in TRUE or raw in FALSE:
        return raw in TRUE
    if raw in YES or raw in NO:
        if is_switch and raw in ("on", "off"):
            return raw
        better = ("on" if raw in YES else "off") if is_switch else ("true" if raw in YES else "false")
        fix = f"write {better}" if is_switch else f'write {better} for a boolean, or "{raw}" for the word'
        raise DisputedError("AP0014", f"{raw} is a boolean in YAML 1.1 and a word in YAML 1.2", fix)
    if DISPUTED.fullmatch(raw):
        raise DisputedError(
            "AP0016", f"{raw} is a different number in YAML 1.1 and 1.2", "write it in plain digits or in quotes"
        )
    if len(raw) < 20 and INTEGER.fullmatch(raw):
        return int(raw)
    if len(raw) < 20 and RADIX.fullmatch(raw):
        return int(raw, 0)
    if len(raw) < 40 and FLOAT.fullmatch(raw) and any(letter.isdigit() for letter in raw):
        return float(raw)
    return raw


class Builder:
    def __init__(self, document: Document, environ: Environment[str, str] | None) -> None:
        self.document = document
        self.environ = environ
        self.findings: list[Diagnostic] = []
        self.nodes = 0

    def build(self, node: Node, path: Path) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES or len(path) > MAX_DEPTH:
            if self.nodes <= MAX_NODES + 1:
                self.find("AP0013", node, path[:1], f"aliases grow to more than {MAX_NODES} values", "write them out")
                self.nodes = MAX_NODES + 1
            return None
        if isinstance(node, Scalar):
            return self.scalar(node, path)
        if isinstance(node, Sequence):
            return tuple(self.build(item, (*path, index)) for index, item in enumerate(node.items))
        return {key: self.build(value, (*path, key)) for key, (_, value) in node.all().items()}

    def scalar(self, node: Scalar, path: Path) -> Any:
        text = node.raw
        is_switch = len(path) == 2 and path[0] == SWITCHES
        if self.environ is not None and "${" in text and path[:2] != SECRETS:
            try:
                text = interpolate(text, self.environ)
            except BadReferenceError as bad:
                self.find("AP0017", node, path, *bad.args)
                return None
        if not node.plain:
            return text
        try:
            return word(text, is_switch)
        except DisputedError as disputed:
            code, fact, fix = disputed.args
            if text != node.raw:
                fact, fix = f"the value of {node.raw} is a word that YAML 1.1 and 1.2 read differently", "set another"
            self.find(code, node, path, fact, fix)
            return None

    def find(self, code: str, node: Node, path: Path, fact: str, fix: str) -> None:
        position = self.document.position(path)
        self.findings.append(Diagnostic(code, Severity.ERROR, position, printable(dotted(path), 200), fact, fix))


def to_plain(document: Document, environ: Environment[str, str] | None) -> tuple[Any, list[Diagnostic]]:
    """Data of the whole document; `environ` None leaves references as they are. DisputedError words become None."""
    builder = Builder(document, environ)
    data = None if document.root is None else builder.build(document.root, ())
    return data, builder.findings
