"""YAML text -> nodes with positions, from the parser's events: nothing is built that the limits do not allow."""

from collections.abc import Iterator
from typing import Any

import yaml

from ..diagnostics import Diagnostic, Position, Severity
from .nodes import Mapping, Node, Scalar, Sequence
from .quoting import short
from .syntax import explain

MAX_DEPTH = 64
MAX_NODES = 20_000
"""Keys and values of a profile after its aliases are followed."""
CORE = "tag:yaml.org,2002:"
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class StopReadingError(Exception):
    """Reading cannot go on after the last finding."""


class Reader:
    """Reads one document. Findings that leave the tree readable are collected; the others end the reading."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.findings: list[Diagnostic] = []
        self.anchors: dict[str, Node | None] = {}
        self.copied = 0
        self.events: Iterator[Any] = yaml.parse(text, Loader=LOADER)

    def read(self) -> Node | None:
        root: Node | None = None
        documents = 0
        try:
            for event in self.events:
                if isinstance(event, yaml.DocumentStartEvent):
                    documents += 1
                    if documents > 1:
                        self.stop("AP0008", event.start_mark, "a second document begins here", "keep one per file")
                elif isinstance(event, yaml.NodeEvent):
                    root = self.node(event, 1)
        except StopReadingError:
            return None
        except yaml.YAMLError as error:
            self.findings.append(explain(self.file, self.text, error))
            return None
        return root

    def node(self, event: Any, depth: int) -> Node:
        mark = event.start_mark
        if depth > MAX_DEPTH:
            self.stop("AP0012", mark, f"nested deeper than {MAX_DEPTH} levels", "a profile needs five")
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        if event.tag is not None:
            self.find(
                "AP0010", mark, f"the tag {short(event.tag.replace(CORE, '!!'))} has no meaning here", "remove it"
            )
        line, column, anchor = mark.line + 1, mark.column + 1, event.anchor
        if anchor:
            self.anchors[anchor] = None
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = Scalar(event.value, not event.style, line, column)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = Sequence(line, column)
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                node.items.append(self.node(event, depth + 1))
        else:
            node = Mapping(line, column)
            self.entries(node, depth + 1)
        if anchor:
            self.anchors[anchor] = node
        return node

    def alias(self, event: Any) -> Node:
        name = event.anchor
        if name not in self.anchors:
            self.stop(
                "AP0013",
                event.start_mark,
                f"the alias {short('*' + name)} has no anchor above it",
                "define it, or put the value in quotes",
            )
        if (node := self.anchors[name]) is None:
            self.stop(
                "AP0013", event.start_mark, f"the alias {short('*' + name)} stands inside its own anchor", "remove it"
            )
        assert node is not None
        return node

    def entries(self, mapping: Mapping, depth: int) -> None:
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self.node(event, depth)
            value = self.node(next(self.events), depth)
            if not isinstance(key, Scalar):
                self.find("AP0011", event.start_mark, "a key must be plain text", "write it as one word")
            elif key.raw == "<<" and key.plain:
                self.merge(mapping, event.start_mark, value)
            elif key.raw in mapping.entries:
                first = mapping.entries[key.raw][0]
                fact = f"the key {short(key.raw)} stands already at line {first.line}, column {first.column}"
                self.find("AP0009", event.start_mark, fact, "keep one of the two")
            else:
                mapping.entries[key.raw] = (key, value)

    def merge(self, mapping: Mapping, mark: Any, value: Node) -> None:
        for other in value.items if isinstance(value, Sequence) else [value]:
            if not isinstance(other, Mapping):
                self.find("AP0011", mark, "<< merges mappings only", "write <<: *anchor of a mapping")
                continue
            brought = other.all()
            self.copied += len(brought)
            if self.copied > MAX_NODES:
                self.stop("AP0013", mark, f"merge keys bring in more than {MAX_NODES} keys", "write the values out")
            mapping.merged = {**brought, **mapping.merged}

    def find(self, code: str, mark: Any, fact: str, fix: str) -> None:
        position = Position(self.file, mark.line + 1, mark.column + 1)
        self.findings.append(Diagnostic(code, Severity.ERROR, position, "", fact, fix))

    def stop(self, code: str, mark: Any, fact: str, fix: str) -> None:
        self.find(code, mark, fact, fix)
        raise StopReadingError
