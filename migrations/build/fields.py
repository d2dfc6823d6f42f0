"""Reads the fields of the engine's configuration classes."""

import ast
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from appliance.migrations.build.constants import evaluate
from appliance.migrations.build.shapes import Shape, Shapes
from appliance.migrations.build.sources import Module, Sources

_BOUNDS = ("gt", "ge", "lt", "le")


@dataclass(frozen=True)
class Field:
    name: str
    owner: str
    shape: Shape
    default: Any
    bounds: dict[str, float]
    settable: bool
    deprecated: bool = False


def class_fields(sources: Sources, shapes: Shapes, module: Module, node: ast.ClassDef) -> dict[str, Field]:
    """The class's fields, inherited ones first; settable is False for what a config text may not name."""
    found: dict[str, Field] = {}
    for base in node.bases:
        located = sources.locate(module, base)
        if located and isinstance(located[1], ast.ClassDef):
            found.update(class_fields(sources, shapes, located[0], located[1]))
    constants = _Constants(node)
    for position, statement in enumerate(node.body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            annotation = ast.unparse(statement.annotation)
            if "ClassVar" in annotation or statement.target.id.startswith("_"):
                continue
            doc = node.body[position + 1] if position + 1 < len(node.body) else None
            found[statement.target.id] = Field(
                statement.target.id,
                node.name,
                shapes.of(module, statement.annotation),
                evaluate(sources, module, constants.inline(statement.value)),
                _bounds(statement.value, statement.annotation),
                _settable(statement.value),
                _deprecated(doc),
            )
    return found


class _Constants(ast.NodeTransformer):
    """Puts the value of a name assigned earlier in the same class in the name's place."""

    def __init__(self, node: ast.ClassDef) -> None:
        self.values = {
            statement.target.id: statement.value
            for statement in node.body
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
            if statement.value is not None and "ClassVar" in ast.unparse(statement.annotation)
        }

    def inline(self, value: ast.expr | None) -> ast.expr | None:
        return value if value is None or not self.values else self.visit(deepcopy(value))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def _keywords(value: ast.AST | None) -> dict[str | None, ast.expr]:
    return {keyword.arg: keyword.value for keyword in value.keywords} if isinstance(value, ast.Call) else {}


def _bounds(value: ast.AST | None, annotation: ast.AST) -> dict[str, float]:
    calls = [value, *(node for node in ast.walk(annotation) if isinstance(node, ast.Call))]
    return {
        bound: keywords[bound].value  # type: ignore[attr-defined]
        for keywords in map(_keywords, calls)
        for bound in _BOUNDS
        if isinstance(keywords.get(bound), ast.Constant)
    }


def _settable(value: ast.AST | None) -> bool:
    if value is not None and ast.unparse(value).startswith("PrivateAttr"):
        return False
    init = _keywords(value).get("init")
    return not (isinstance(init, ast.Constant) and init.value is False)


def _deprecated(doc: ast.stmt | None) -> bool:
    match doc:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return "deprecated" in text.lower()[:160]
    return False
