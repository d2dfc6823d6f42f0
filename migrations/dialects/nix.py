"""Nix expressions: commands in strings, argument lists, variables of the engine. Report only: a value may be built
from others anywhere in the expression.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from appliance.migrations.argv import read_words
from appliance.migrations.canonical import UNKNOWN, Deployment, Edit, Entrypoint, Form, Kind, OptionSite, ReleaseHint
from appliance.migrations.dialects.launch import NESTED
from appliance.migrations.dialects.layers import FileLayer, span
from appliance.migrations.dialects.pieces import Piece
from appliance.migrations.dialects.pins import with_neighbours
from appliance.migrations.dialects.quoting import SHELL
from appliance.migrations.dialects.serving import engine_options, engine_variable, image_hint, model_of, serves
from appliance.migrations.dialects.shell_reader import ShellReader
from appliance.migrations.dialects.strings import layer_of, literal
from appliance.migrations.dialects.trees import Tree
from appliance.migrations.dialects.wrappers import reaching
from appliance.migrations.operations import CannotEditError, Operation

_STRINGS = ("string_expression", "indented_string_expression")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+\Z")


class _Expression:
    def __init__(self, text: str) -> None:
        self.layer = FileLayer(text)
        self.tree = Tree("tree_sitter_nix", self.layer.text)
        self.found: list[Deployment] = []
        self.env: list[OptionSite] = []
        self.hint: ReleaseHint | None = None

    def read(self) -> list[Deployment]:
        stack: list[Any] = [self.tree.root]
        while stack:
            node = stack.pop()
            if node.type == "binding":
                self._binding(node)
            if node.type in _STRINGS:
                self._string(node)
            elif node.type != "list_expression" or not self._list(node):
                stack += reversed(node.named_children)
        if not self.found and self.env:
            self.found.append(Deployment((), Entrypoint.SERVE))
        return [
            replace(
                deployment,
                sites=(*self.env, *deployment.sites),
                release=deployment.release or self.hint,
                editable=False,
                takes_options=False,
                takes_env=False,
                handle=None,
            )
            for deployment in self.found
        ]

    def _string(self, node: Any) -> None:
        piece = literal(self.tree, [node])
        if NESTED.search(piece.text):
            self.found += ShellReader(layer_of(self.layer, piece)).read()
        elif self.hint is None and ":" in piece.text:
            self.hint = image_hint(piece.text, span(self.layer, piece.start, piece.end))

    def _binding(self, node: Any) -> None:
        name, value = node.child_by_field_name("attrpath"), node.child_by_field_name("expression")
        if name is None or value is None:
            return
        start, end = self.tree.span(name)
        text = self.tree.text[start:end].rpartition(".")[2].strip('"')
        if not _VARIABLE.match(text) or not engine_variable(text):
            return
        piece = literal(self.tree, [value]) if value.type in _STRINGS else None
        begin, stop = self.tree.span(value)
        raw = piece.text if piece else self.tree.text[begin:stop]
        self.env.append(
            OptionSite(
                text,
                UNKNOWN if piece is None or piece.opaque else piece.text,
                Form.ENV,
                span(self.layer, start, end),
                span(self.layer, *self.tree.span(node)),
                Kind.ENV,
                raw_name=text,
                raw_value=raw,
                value_span=span(self.layer, begin, stop),
            )
        )

    def _list(self, node: Any) -> bool:
        pieces = [self._item(child) for child in node.named_children if child.type != "comment"]
        texts = [piece.text for piece in pieces]
        found = serves(texts) or ((0, Entrypoint.IMAGE) if engine_options(texts) else None)
        if found is None:
            return False
        start, entrypoint = found
        words = [piece.word(self.layer, SHELL) for piece in pieces[start:]]
        sites = reaching(entrypoint, read_words(words, entrypoint.takes_word))
        self.found.append(Deployment(tuple(sites), entrypoint, "", model_of(sites)))
        return True

    def _item(self, node: Any) -> Piece:
        if node.type in _STRINGS:
            return literal(self.tree, [node])
        start, end = self.tree.span(node)
        return Piece(start, end, self.tree.text[start:end], opaque=True)


class _Nix:
    name = "nix"

    def detect(self, path: str, text: str) -> float:
        return 0.95 if PurePath(path).suffix == ".nix" else 0.0

    def read(self, path: str, text: str) -> list[Deployment]:
        mentioned = "vllm" in text or "VLLM" in text
        return with_neighbours(path, _Expression(text).read()) if mentioned else []

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        for operation in operations:
            raise CannotEditError(operation, "a Nix expression is reported on, never edited: change it there yourself")
        return []


dialect = _Nix()
