"""Python programs: `LLM(...)`, engine arguments, `engine_kwargs`, command lists and texts, `os.environ`. Report only:
what a name stands for elsewhere in a program cannot be told from one place.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from appliance.migrations.argv import read_words
from appliance.migrations.canonical import (
    UNKNOWN,
    Deployment,
    Edit,
    Entrypoint,
    Form,
    Kind,
    OptionSite,
    Span,
    Value,
)
from appliance.migrations.dialects.launch import NESTED
from appliance.migrations.dialects.layers import FileLayer, span
from appliance.migrations.dialects.pieces import Piece
from appliance.migrations.dialects.pins import with_neighbours
from appliance.migrations.dialects.python_arguments import Arguments
from appliance.migrations.dialects.quoting import SHELL
from appliance.migrations.dialects.serving import (
    engine_options,
    engine_variable,
    image_hint,
    model_of,
    pin_hint,
    serves,
)
from appliance.migrations.dialects.shell_reader import ShellReader
from appliance.migrations.dialects.strings import layer_of, literal
from appliance.migrations.dialects.trees import Tree
from appliance.migrations.dialects.wrappers import reaching
from appliance.migrations.operations import CannotEditError, Operation

_CALLS = frozenset({"LLM", "EngineArgs", "AsyncEngineArgs"})
_KEYS = frozenset(
    {"engine_kwargs", "vllm_kwargs", "engine_args", "vllm_engine_kwargs", "vllm_engine_args", "llm_kwargs"}
)
_COMMAND = re.compile(
    r"\s*(?:[A-Z_][A-Z0-9_]*=\S+\s+)*(?:(?:exec|nohup|env|sudo)\s+)*(?:\S*vllm|\S*python[0-9.]*|docker|podman|nerdctl)\s"
)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+\Z")
_STRINGS = ("string", "concatenated_string")
_MENTIONED = re.compile(r"\bvllm\b|VLLM_|engine_kwargs|LLMConfig")


class _Program:
    def __init__(self, text: str) -> None:
        self.layer = FileLayer(text)
        self.tree = Tree("tree_sitter_python", self.layer.text)
        self.arguments = Arguments(self.layer, self.tree)
        self.found: list[Deployment] = []
        self.env: list[OptionSite] = []
        self._commands: dict[str, int] = {}

    def read(self) -> list[Deployment]:
        stack: list[Any] = [self.tree.root]
        while stack:
            node = stack.pop()
            if not self._visit(node):
                stack += reversed(node.named_children)
        if not self.found and self.env:
            self.found.append(Deployment((), Entrypoint.PYTHON))
        hint = next(self._hints(), None)
        return [
            replace(
                deployment,
                sites=(*self.env, *deployment.sites),
                release=deployment.release or hint,
                editable=False,
                takes_options=False,
                takes_env=False,
                handle=None,
            )
            for deployment in self.found
        ]

    def _hints(self) -> Iterator[Any]:
        for found in re.finditer(r"[\"']([^\"'\n]*vllm[^\"'\n]*)[\"']", self.layer.text):
            where = span(self.layer, *found.span(1))
            hint = pin_hint(found[1], where) or image_hint(found[1], where)
            if hint and hint.release:
                yield hint

    def _visit(self, node: Any) -> bool:
        """Whether nothing inside the node is of interest any more."""
        kind = node.type
        if kind == "call":
            self._call(node)
        elif kind == "keyword_argument":
            self._keyed(self.tree.of(node.child_by_field_name("name")), node.child_by_field_name("value"))
        elif kind == "pair":
            key = node.child_by_field_name("key")
            if key is not None and key.type == "string":
                name = literal(self.tree, [key])
                value = node.child_by_field_name("value")
                self._variable(name, value)
                self._keyed(name.text, value)
        elif kind == "assignment":
            self._assignment(node)
        elif kind == "list":
            return self._list(node)
        elif kind in _STRINGS:
            self._text(node)
            return True
        return (
            kind == "expression_statement" and node.named_child_count == 1 and node.named_children[0].type in _STRINGS
        )

    def _call(self, node: Any) -> None:
        function = node.child_by_field_name("function")
        name = self.tree.of(function).rpartition(".")[2] if function is not None else ""
        arguments = node.child_by_field_name("arguments")
        if arguments is None:
            return
        if name in _CALLS:
            sites = list(self.arguments.keywords(arguments))
            first = next(iter(arguments.named_children), None)
            if first is not None and first.type == "string":
                piece = literal(self.tree, [first])
                where = span(self.layer, piece.start, piece.end)
                value: Value = UNKNOWN if piece.opaque else piece.text
                named = Span(where.start, where.start)
                sites.insert(0, OptionSite("model", value, Form.POSITIONAL, named, where, raw_value=piece.text))
            if sites:
                self._found(sites, name)
        elif name in ("setdefault", "putenv") and "environ" in self.tree.of(function) + name:
            values = arguments.named_children
            if len(values) == 2 and values[0].type == "string":
                self._variable(literal(self.tree, [values[0]]), values[1])

    def _assignment(self, node: Any) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if left.type == "identifier":
            self._keyed(self.tree.of(left), right)
        elif left.type == "subscript" and "environ" in self.tree.of(left):
            keys = [child for child in left.named_children if child.type == "string"]
            if keys:
                self._variable(literal(self.tree, keys[:1]), right)

    def _keyed(self, name: str, value: Any) -> None:
        """A mapping of engine arguments under one of the names that people give it."""
        if name.lower() not in _KEYS or value is None:
            return
        sites = list(self.arguments.mapping(value))
        if any(site.name in _known() for site in sites):
            self._found(sites, name)

    def _found(self, sites: Sequence[OptionSite], label: str) -> None:
        self.found.append(Deployment(tuple(sites), Entrypoint.PYTHON, label, model_of(sites)))

    def _variable(self, name: Piece, value: Any) -> None:
        if value is None or not _VARIABLE.match(name.text) or not engine_variable(name.text):
            return
        known = self.arguments.constant(value)
        start, end = self.tree.span(value)
        self.env.append(
            OptionSite(
                name.text,
                UNKNOWN if known is UNKNOWN or isinstance(known, dict | list) else str(known),
                Form.ENV,
                span(self.layer, name.start + 1, name.end - 1),
                span(self.layer, name.start, end),
                Kind.ENV,
                raw_name=name.text,
                raw_value=self.tree.text[start:end],
                value_span=span(self.layer, start, end),
            )
        )

    def _list(self, node: Any) -> bool:
        pieces = [self._item(child) for child in node.named_children if child.type != "comment"]
        texts = [piece.text for piece in pieces]
        name, more = self._holder(node)
        if more and name in self._commands:
            index = self._commands[name]
            sites = read_words([piece.word(self.layer, SHELL) for piece in pieces], model=False)
            self.found[index] = replace(self.found[index], sites=(*self.found[index].sites, *sites))
            return bool(sites)
        found = serves(texts)
        if found is None and len(texts) > 2 and engine_options(texts):
            found = (0, Entrypoint.IMAGE)
        if found is None:
            return False
        start, entrypoint = found
        words = [piece.word(self.layer, SHELL) for piece in pieces[start:]]
        sites = reaching(entrypoint, read_words(words, entrypoint.takes_word))
        if sites:
            self._commands[name] = len(self.found)
            self.found.append(Deployment(tuple(sites), entrypoint, "", model_of(sites)))
        return bool(sites)

    def _holder(self, node: Any) -> tuple[str, bool]:
        """The variable that the list goes to, and whether it is added to what is there: `x = `, `x +=`, `x.extend()`"""
        above = node.parent
        if above.type in ("assignment", "augmented_assignment"):
            return self.tree.of(above.child_by_field_name("left")), above.type == "augmented_assignment"
        if above.type == "argument_list" and above.parent.type == "call":
            name, _, method = self.tree.of(above.parent.child_by_field_name("function")).rpartition(".")
            return name, method == "extend"
        return "", False

    def _item(self, node: Any) -> Piece:
        if node.type in _STRINGS:
            return literal(self.tree, [node])
        start, end = self.tree.span(node)
        return Piece(start, end, self.tree.text[start:end], opaque=True)

    def _text(self, node: Any) -> None:
        piece = literal(self.tree, [node])
        if NESTED.search(piece.text) and _COMMAND.match(piece.text):
            self.found += ShellReader(layer_of(self.layer, piece)).read()


def _known() -> Any:
    from appliance.migrations.catalogue import catalogue

    return catalogue().options


class _Python:
    name = "python"

    def detect(self, path: str, text: str) -> float:
        if PurePath(path).suffix in (".py", ".pyi") or re.match(r"#!.*\bpython", text):
            return 0.9 if _MENTIONED.search(text) else 0.3
        return 0.0

    def read(self, path: str, text: str) -> list[Deployment]:
        return with_neighbours(path, _Program(text).read()) if _MENTIONED.search(text) else []

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        for operation in operations:
            raise CannotEditError(operation, "a Python program is reported on, never edited: change it there yourself")
        return []


dialect = _Python()
