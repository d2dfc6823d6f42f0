"""Engine arguments in a Python program: keywords and keys, with what can be known of their values."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from appliance.migrations.argv import name_of
from appliance.migrations.canonical import UNKNOWN, Form, OptionSite, Path, Plain, Value
from appliance.migrations.dialects.layers import Layer, span
from appliance.migrations.dialects.pieces import Piece
from appliance.migrations.dialects.strings import literal
from appliance.migrations.dialects.trees import Tree


@dataclass(frozen=True)
class Arguments:
    layer: Layer
    tree: Tree

    def mapping(self, node: Any) -> Iterator[OptionSite]:
        """Of a dictionary, or of a call of `dict`."""
        if node.type == "dictionary":
            for pair in node.named_children:
                key = pair.child_by_field_name("key") if pair.type == "pair" else None
                if key is not None and key.type == "string":
                    piece = literal(self.tree, [key])
                    yield from self.sites(piece.text, piece, pair, pair.child_by_field_name("value"), Form.JSON_KEY)
        elif node.type == "call" and self.tree.of(node.child_by_field_name("function")) == "dict":
            yield from self.keywords(node.child_by_field_name("arguments"))

    def keywords(self, arguments: Any) -> Iterator[OptionSite]:
        for argument in arguments.named_children:
            if argument.type == "keyword_argument":
                name = argument.child_by_field_name("name")
                start, end = self.tree.span(name)
                piece = Piece(start, end, self.tree.text[start:end])
                yield from self.sites(piece.text, piece, argument, argument.child_by_field_name("value"), Form.KEYWORD)

    def sites(self, name: str, key: Piece, whole: Any, value: Any, form: Form) -> Iterator[OptionSite]:
        named = name_of("--" + name)
        start, end = self.tree.span(value)
        for path, seen in self.values(value):
            if named.negative and isinstance(seen, bool):
                seen = not seen
            yield OptionSite(
                named.name,
                seen,
                form,
                span(self.layer, key.start, key.end),
                span(self.layer, *self.tree.span(whole)),
                path=path,
                raw_name=name,
                raw_value=self.tree.text[start:end],
                value_span=span(self.layer, start, end),
            )

    def values(self, node: Any, path: Path = ()) -> Iterator[tuple[Path, Value]]:
        """The value; a mapping that is known only in part comes key by key."""
        known = self.constant(node)
        if known is not UNKNOWN or node.type != "dictionary" or len(path) > 8:
            yield path, known
            return
        for pair in node.named_children:
            key = pair.child_by_field_name("key") if pair.type == "pair" else None
            value = pair.child_by_field_name("value") if pair.type == "pair" else None
            if key is not None and value is not None and key.type == "string":
                yield from self.values(value, (*path, literal(self.tree, [key]).text))

    def constant(self, node: Any) -> Value:
        if node.type == "call" and self.tree.of(node.child_by_field_name("function")) == "dict":
            pairs = node.child_by_field_name("arguments").named_children
            if all(pair.type == "keyword_argument" for pair in pairs):
                items = {
                    self.tree.of(pair.child_by_field_name("name")): self.constant(pair.child_by_field_name("value"))
                    for pair in pairs
                }
                return UNKNOWN if any(item is UNKNOWN for item in items.values()) else items  # type: ignore[return-value]
            return UNKNOWN
        try:
            return _plain(ast.literal_eval(self.tree.of(node).strip()))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return UNKNOWN


def _plain(value: Any) -> Value:
    if isinstance(value, tuple | set | frozenset | list):
        items = [_plain(item) for item in value]
        return UNKNOWN if any(item is UNKNOWN for item in items) else items  # type: ignore[return-value]
    if isinstance(value, dict):
        pairs: dict[str, Any] = {str(key): _plain(item) for key, item in value.items()}
        return UNKNOWN if any(item is UNKNOWN for item in pairs.values()) else pairs
    plain: Plain = value
    return plain if value is None or isinstance(value, bool | int | float | str) else UNKNOWN
