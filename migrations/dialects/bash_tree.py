"""Shell text as tree-sitter reads it: commands, assignments and exports, each word a Piece of the layer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from appliance.migrations.dialects.layers import Layer
from appliance.migrations.dialects.pieces import Piece, Remark
from appliance.migrations.dialects.trees import Tree
from appliance.migrations.dialects.unquote import scan

# Jinja, Go templates and `<your-model>` are no shell; they are read as plain words of the same length.
# an opening that nobody closes does not reach over the next one, which may be ours
_TEMPLATE = re.compile(
    r"\{\{(?:(?!\{\{).)*?\}\}|\{%(?:(?!\{%).)*?%\}|(?<=[\s=/\"'])<[a-zA-Z][\w -]*>(?=[\s/\"']|\Z)", re.DOTALL
)
_BETWEEN = re.compile(r"(\\\r?\n)([ \t]*\{%[^\n]*?%\}[ \t]*)(?=\r?\n)")
_RETURN = re.compile(r"\\\r\n|\r\n")
_PLAIN = re.compile(r"[^\\'\"$`{]*")
_VARIABLE = re.compile(r'"?\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?(?:[-:+?=].*)?\}|\((\w+)\))"?', re.DOTALL)
_OPAQUE = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion", "process_substitution"}
    | {"brace_expression"}
)
_BLOCKS = frozenset(
    {"program", "compound_statement", "do_group", "subshell", "if_statement", "elif_clause", "else_clause"}
    | {"while_statement", "for_statement", "c_style_for_statement", "case_statement", "case_item"}
    | {"function_definition", "command_substitution", "process_substitution"}
)
_THROUGH = frozenset({"redirected_statement", "pipeline", "list", "negated_command", "variable_assignments", "ERROR"})
_SUBSTITUTIONS = ("command_substitution", "process_substitution")
_SUBSTITUTION = re.compile(r"\$\(|`|[<>]\(")
_INTEREST = re.compile(
    r"vllm|api_server|\b(?:docker|podman|nerdctl)\b|(?<![^\s])\"?\$\{?\w+(?:\[@\])?\}?\"?(?:\s|\Z)", re.IGNORECASE
)


@dataclass(eq=False)
class Block:
    """A body that may not become empty. statements: how many stand in it."""

    statements: int = 0
    top: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    start: int
    end: int
    remark: Remark
    block: Block


@dataclass(frozen=True, slots=True)
class Command:
    """assignments: how many of the pieces are `A=B` in front of the name. Only commands that could matter are kept."""

    pieces: tuple[Piece, ...]
    assignments: int
    statement: Statement


@dataclass(frozen=True, slots=True)
class Assignment:
    """items: the words of an array; None for a plain value, whose piece is then `NAME=value` as a whole."""

    name: str
    appends: bool
    whole: Piece
    items: tuple[Piece, ...] | None
    inside: tuple[int, int]
    statement: Statement


@dataclass(frozen=True, slots=True)
class Export:
    """`export A=B C`; pieces[0] is the word export itself."""

    pieces: tuple[Piece, ...]
    statement: Statement


@dataclass(frozen=True, slots=True)
class Heredoc:
    start: int
    end: int
    literal: bool
    statement: Statement


@dataclass
class Script:
    layer: Layer
    commands: list[Command] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    heredocs: list[Heredoc] = field(default_factory=list)
    errors: list[tuple[int, int]] = field(default_factory=list)
    top: Block = field(default_factory=lambda: Block(top=True))


# `$(if $(X),--flag $(X))` of make, which no shell ever sees
_MAKE_FUNCTION = re.compile(
    r"\$\((?:if|or|and|foreach|call|subst|patsubst|filter|filter-out|addprefix|addsuffix)[ \t]"
    r"(?=[^;\n]*,)(?:[^()\n;]|\([^()\n]*\))*\)"
)
# a backslash before the end of the file, which joins nothing
_LAST_JOINT = re.compile(r"(?<!\\)\\(?=\s*\Z)")


def read_script(layer: Layer, every: bool = False) -> Script:
    """every: keep commands that have nothing to do with the engine too."""
    return _Reader(layer, every).read()


def masked(text: str) -> str:
    """The text as long as before; template lines inside a continued command continue it."""
    if "{%" in text:
        text = _BETWEEN.sub(lambda found: found[1] + " " * (len(found[2]) - 1) + "\\", text)
        text = _BETWEEN.sub(lambda found: found[1] + " " * (len(found[2]) - 1) + "\\", text)
    text = _TEMPLATE.sub(lambda found: re.sub(r"[^\n]", "X", found.group()), text)
    text = _MAKE_FUNCTION.sub(lambda found: "$(" + "X" * (len(found.group()) - 3) + ")", text)
    text = _LAST_JOINT.sub(" ", text)
    return _RETURN.sub(lambda found: " \\\n" if found.group()[0] == "\\" else " \n", text)


class _Reader:
    def __init__(self, layer: Layer, every: bool) -> None:
        self.text = layer.text
        self._every = every
        self.script = Script(layer)
        self._tree = Tree("tree_sitter_bash", self.text, masked(self.text))
        self.span = self._tree.span

    def read(self) -> Script:
        statement = Statement(0, len(self.text), Remark(self.script.layer, 0), self.script.top)
        self._walk(self._tree.root, statement)
        self.script.errors.sort()
        return self.script

    def _walk(self, root: Any, outer: Statement) -> None:
        stack: list[tuple[Any, Statement]] = [(root, outer)]
        seen: set[int] = set()
        while stack:
            node, statement = stack.pop()
            kind = node.type
            if node.id in seen:
                continue
            seen.add(node.id)
            if node.is_missing or kind == "ERROR":
                self.script.errors.append(self.span(node))
            if kind in _BLOCKS or kind == "ERROR":
                stack += reversed(list(self._body(node, statement)))
            elif kind in _THROUGH:
                if kind == "redirected_statement":
                    stack += [(child, statement) for child in reversed(self._redirected(node, statement))]
                else:
                    stack += [(child, statement) for child in reversed(node.named_children)]
            elif kind == "command":
                self._command(node, [], statement)
                stack += [(child, statement) for child in self._substitutions(node)]
            elif kind == "declaration_command":
                self._declaration(node, statement)
            elif kind == "variable_assignment":
                self._assignment(node, statement)
                stack += [(child, statement) for child in self._substitutions(node)]

    def _body(self, node: Any, outer: Statement) -> Iterator[tuple[Any, Statement]]:
        block = self.script.top if node.type == "program" else Block()
        counting = node.type not in ("if_statement", "elif_clause", "case_statement", "function_definition")
        remark, reached = outer.remark, outer.start
        begin = outer.remark.offset if outer.block.top and not outer.start else -1
        for child in node.children:
            if child.type == "then":
                counting = True
            if not child.is_named or child.type == "comment":
                continue
            start, end = self.span(child)
            broken = self.text.rfind("\n", reached, start)
            if broken >= 0 or begin == 0:
                line = broken + 1 if broken >= 0 else 0
                indent = self.text[line:start]
                if not indent.strip():
                    remark = Remark(self.script.layer, line, indent)
            reached, begin = end, -1
            if counting and child.type not in ("elif_clause", "else_clause"):
                block.statements += 1
            yield child, Statement(start, end, remark, block)

    def _redirected(self, node: Any, statement: Statement) -> list[Any]:
        """The statement in front of the redirections, with the arguments that stand behind these."""
        extra: list[Piece] = []
        others = []
        command = None
        for child in node.named_children:
            if child.type == "file_redirect":
                words = [c for c in child.named_children if c.type != "file_descriptor"]
                extra += [self.piece(word) for word in words[1:]]
            elif child.type == "heredoc_redirect":
                others += self._heredoc(child, statement)
            elif child.type == "command" and command is None:
                command = child
            else:
                others.append(child)
        if command is not None:
            self._command(command, extra, statement)
            others += self._substitutions(command)
        return others

    def _heredoc(self, node: Any, statement: Statement) -> list[Any]:
        literal = False
        others = []
        for child in node.named_children:
            if child.type == "heredoc_start":
                start, end = self.span(child)
                literal = any(mark in self.text[start:end] for mark in "'\"\\")
            elif child.type == "heredoc_body":
                start, end = self.span(child)
                self.script.heredocs.append(Heredoc(start, end, literal, statement))
            elif child.type in ("pipeline", "command", "list"):
                others.append(child)
        return others

    def _command(self, node: Any, extra: list[Piece], statement: Statement) -> None:
        raw = self.text[slice(*self.span(node))]
        if not self._every and not _INTEREST.search(raw):
            return
        pieces: list[Piece] = []
        count = 0
        for child in node.named_children:
            if child.type == "variable_assignment":
                count += 1
            if child.type == "file_redirect":
                words = [c for c in child.named_children if c.type != "file_descriptor"]
                pieces += [self.piece(word) for word in words[1:]]
            elif not child.type.endswith("_redirect"):
                pieces.append(self.piece(child))
        pieces += extra
        self.script.commands.append(Command(tuple(pieces), count, statement))

    def _declaration(self, node: Any, statement: Statement) -> None:
        children = node.children
        named = [child for child in children if child.is_named]
        flags = [self.text[slice(*self.span(child))] for child in named if child.type == "word"]
        if children[0].type == "export" or any("x" in flag for flag in flags if flag.startswith("-")):
            self.script.exports.append(Export(tuple(self.piece(child) for child in children), statement))
        for child in named:
            if child.type == "variable_assignment":
                self._assignment(child, statement)

    def _assignment(self, node: Any, statement: Statement) -> None:
        children = node.children
        name = self.text[slice(*self.span(children[0]))]
        appends = any(child.type == "+=" for child in children)
        array = next((child for child in children if child.type == "array"), None)
        start, end = self.span(array if array is not None else node)
        items = None
        if array is not None:
            items = tuple(self.piece(child) for child in array.named_children if child.type != "comment")
        self.script.assignments.append(
            Assignment(name, appends, self.piece(node), items, (start + 1, end - 1), statement)
        )

    def _substitutions(self, node: Any) -> list[Any]:
        raw = self.text[slice(*self.span(node))]
        if "vllm" not in raw or not _SUBSTITUTION.search(raw):
            return []
        return [child for child in _outermost(node) if child.type in _SUBSTITUTIONS]

    def piece(self, node: Any) -> Piece:
        start, end = self.span(node)
        raw = self.text[start:end]
        if _PLAIN.fullmatch(raw):
            return Piece(start, end, raw)
        if "{{" in raw or "{%" in raw:
            return Piece(start, end, raw, opaque=True)
        ranges = [self.span(child) for child in _outermost(node)]
        found = _VARIABLE.fullmatch(raw)
        variable = next(filter(None, found.groups()), "") if found and len(ranges) == 1 else ""
        return scan(self.text, start, end, ranges, variable)


def _outermost(node: Any) -> list[Any]:
    """The parts of a word that the shell fills in."""
    found = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in _OPAQUE:
            found.append(current)
        elif current.type != "array":
            stack += current.named_children
    return found
