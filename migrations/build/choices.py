"""Reads what `choices=` allows."""

import ast
from typing import Any

from appliance.migrations.build.constants import evaluate
from appliance.migrations.build.shapes import Shapes
from appliance.migrations.build.sources import Module


def choices_of(shapes: Shapes, module: Module, node: ast.expr) -> list[Any]:
    """The values of a `choices=` expression that the sources spell out; empty when only running code knows them."""
    match node:
        case ast.Call(func=ast.Name(id="get_args"), args=[alias]):
            return list(shapes.of(module, alias).values)
        case ast.Call(func=ast.Name(id="list"), args=[inner]):
            return choices_of(shapes, module, inner)
        case ast.Name():
            found = shapes.sources.locate(module, node)
            if found and isinstance(found[1], ast.Call | ast.List):
                return choices_of(shapes, found[0], found[1])
        case ast.ListComp(generators=[ast.comprehension(iter=ast.Name() as source)]):
            return list(shapes.of(module, source).values)
        case ast.BinOp(left=known):
            return choices_of(shapes, module, known)
        case ast.List(elts=elements) if any(isinstance(element, ast.Starred) for element in elements):
            plain = [element for element in elements if not isinstance(element, ast.Starred)]
            starred = [element.value for element in elements if isinstance(element, ast.Starred)]
            named = [value for name in starred for value in choices_of(shapes, module, name)]
            return named + [evaluate(shapes.sources, module, element) for element in plain]
    value = evaluate(shapes.sources, module, node)
    return list(value) if isinstance(value, list) else []
