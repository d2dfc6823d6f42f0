"""Reads annotations into what an option accepts: a kind, the allowed values, the config class behind it."""

import ast
from dataclasses import dataclass, field, replace
from typing import Any

from appliance.migrations.build.sources import Module, Sources

_COLLECTIONS = {"list": "list", "List": "list", "tuple": "list", "Tuple": "list", "set": "list", "Set": "list"}
_MAPPINGS = {"dict", "Dict", "Mapping"}
_PLAIN = {"bool", "int", "float", "str"}


@dataclass(frozen=True)
class Shape:
    """kinds: any of bool int float str list dict config enum literal other. of: the config class behind it.

    numbered: an enum whose members are numbers too.
    """

    kinds: frozenset[str] = frozenset()
    values: tuple[Any, ...] = ()
    of: str | None = None
    optional: bool = False
    numbered: bool = False

    def __or__(self, other: "Shape") -> "Shape":
        return Shape(
            self.kinds | other.kinds,
            self.values + tuple(value for value in other.values if value not in self.values),
            self.of or other.of,
            self.optional or other.optional,
            self.numbered or other.numbered,
        )

    @property
    def kind(self) -> str:
        """The one word the catalogue uses, by the precedence of the engine's own argument builder."""
        if self.of and "config" in self.kinds:
            return "json"
        if self.kinds == {"bool", "str"}:
            return "bool-or-str"
        for kind, word in (
            ("bool", "bool"),
            ("literal", "choice"),
            ("list", "list"),
            ("int", "int"),
            ("float", "float"),
        ):
            if kind in self.kinds:
                return word
        if "dict" in self.kinds:
            return "json-or-str" if self.kinds & {"str", "other"} else "json"
        return "choice" if "enum" in self.kinds else "str"

    @property
    def open(self) -> bool:
        """Whether values outside the list are accepted too."""
        return "str" in self.kinds and bool(self.values)


@dataclass
class Shapes:
    sources: Sources
    _classes: dict[tuple[str, str], Shape] = field(default_factory=dict)

    def of(self, module: Module, node: ast.AST | None, depth: int = 0) -> Shape:
        if node is None or depth > 12:
            return Shape()
        match node:
            case ast.Constant(value=None):
                return Shape(optional=True)
            case ast.Constant(value=str() as text):
                return self.of(module, ast.parse(text, mode="eval").body, depth + 1)
            case ast.BinOp(op=ast.BitOr()):
                return self.of(module, node.left, depth + 1) | self.of(module, node.right, depth + 1)
            case ast.Subscript():
                return self._subscript(module, node, depth)
            case ast.Name(id=name) if name in _PLAIN:
                return Shape(frozenset({name}))
            case ast.Name(id=name) if name in _COLLECTIONS:
                return Shape(frozenset({"list"}))
            case ast.Name(id=name) if name in _MAPPINGS:
                return Shape(frozenset({"dict"}))
            case ast.Name() | ast.Attribute():
                return self._named(module, node, depth)
            case _:
                return Shape(frozenset({"other"}))

    def _subscript(self, module: Module, node: ast.Subscript, depth: int) -> Shape:
        head = ast.unparse(node.value).split(".")[-1]
        arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if head == "Literal":
            return Shape(frozenset({"literal"}), tuple(self._literals(module, arguments)))
        if head == "Optional":
            return replace(self.of(module, arguments[0], depth + 1), optional=True)
        if head == "Union":
            shape = Shape()
            for argument in arguments:
                shape = shape | self.of(module, argument, depth + 1)
            return shape
        if head in ("Annotated", "SkipValidation", "InitVar", "ClassVar"):
            return self.of(module, arguments[0], depth + 1)
        if head in _COLLECTIONS:
            inner = self.of(module, arguments[0], depth + 1)
            return Shape(frozenset({"list"}), inner.values)
        if head in _MAPPINGS:
            return Shape(frozenset({"dict"}))
        return Shape(frozenset({"other"}))

    def _literals(self, module: Module, arguments: list[ast.expr]) -> list[Any]:
        values: list[Any] = []
        for argument in arguments:
            if isinstance(argument, ast.Constant):
                values.append(argument.value)
            else:
                values.extend(self.of(module, argument, 1).values)
        return values

    def _named(self, module: Module, node: ast.AST, depth: int) -> Shape:
        found = self.sources.locate(module, node)
        if found is None:
            return Shape(frozenset({"other"}))
        home, definition = found
        if not isinstance(definition, ast.ClassDef):
            return self.of(home, definition, depth + 1)
        bases = {ast.unparse(base).split("[")[0].split(".")[-1] for base in definition.bases}
        if bases & {"Enum", "IntEnum", "StrEnum"} or any(
            "EnumMeta" in ast.unparse(k.value) for k in definition.keywords
        ):
            return Shape(frozenset({"enum"}), tuple(enum_members(definition)), numbered=_numbered(definition))
        if "TypedDict" in bases or "dict" in bases:
            return Shape(frozenset({"dict"}), of=definition.name)
        if is_config(definition):
            return Shape(frozenset({"config"}), of=definition.name)
        return Shape(frozenset({"other"}))


def is_config(node: ast.ClassDef) -> bool:
    """A dataclass in any of the engine's spellings (`@config`, `@dataclass`, a pydantic base)."""
    decorators = {ast.unparse(d.func if isinstance(d, ast.Call) else d).split(".")[-1] for d in node.decorator_list}
    bases = {ast.unparse(base).split(".")[-1] for base in node.bases}
    return bool(
        decorators & {"config", "dataclass"} or "BaseModel" in bases or any(b.endswith("Config") for b in bases)
    )


def _numbered(node: ast.ClassDef) -> bool:
    """Whether the members are 0, 1, 2 ..., so that people may write the number."""
    values = [item.value for item in node.body if isinstance(item, ast.Assign)]
    return bool(values) and all(isinstance(value, ast.Constant) and isinstance(value.value, int) for value in values)


def enum_members(node: ast.ClassDef) -> list[str]:
    """As people write them: the value when it is the name in another case, else the name."""
    members = []
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            value = statement.value.value if isinstance(statement.value, ast.Constant) else None
            same = isinstance(value, str) and value.replace("-", "_").lower() == name.lower()
            if not name.startswith("_"):
                members.append(str(value) if same else name)
    return members
