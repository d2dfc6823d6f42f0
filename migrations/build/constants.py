"""Evaluates default values written in the sources; what only running code can know is marked as computed."""

import ast
import math
from typing import Any

from appliance.migrations.build.sources import Module, Sources

_LONGEST = 60


class Computed:
    """A default that only the running engine knows; `text` is its source."""

    def __init__(self, text: str) -> None:
        self.text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Computed) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


REQUIRED = Computed("required")


def evaluate(sources: Sources, module: Module, node: ast.AST | None, depth: int = 0) -> Any:
    """The value of an expression, as JSON would hold it, or a Computed."""
    if node is None:
        return REQUIRED
    if depth > 10:
        return Computed(ast.unparse(node))
    again = depth + 1
    match node:
        case ast.Constant(value=value):
            return None if value is ... else value
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return [evaluate(sources, module, element, again) for element in elements]
        case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
            return {
                str(key.value): evaluate(sources, module, value, again)
                for key, value in zip(keys, values, strict=True)
                if isinstance(key, ast.Constant)
            }
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = evaluate(sources, module, operand, again)
            return -value if isinstance(value, int | float) else Computed(ast.unparse(node))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = evaluate(sources, module, operand, again)
            return value if isinstance(value, Computed) else not value
        case ast.Attribute(attr="value", value=ast.Attribute() as member):
            return evaluate(sources, module, member, again)
        case ast.BinOp():
            return _arithmetic(sources, module, node, again)
        case ast.Call():
            return _call(sources, module, node, again)
        case ast.Name() | ast.Attribute():
            return _name(sources, module, node, again)
        case _:
            return Computed(ast.unparse(node))


def _arithmetic(sources: Sources, module: Module, node: ast.BinOp, depth: int) -> Any:
    left, right = (evaluate(sources, module, side, depth) for side in (node.left, node.right))
    if isinstance(left, int | float) and isinstance(right, int | float):
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.FloorDiv():
                return left // right
            case ast.Pow():
                return left**right
            case ast.LShift() if isinstance(left, int) and isinstance(right, int):
                return left << right
    return Computed(ast.unparse(node))


def _call(sources: Sources, module: Module, node: ast.Call, depth: int) -> Any:
    function = ast.unparse(node.func).split(".")[-1]
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    if function in ("field", "Field"):
        if "default_factory" in keywords:
            return _factory(sources, module, keywords["default_factory"], depth)
        default = keywords.get("default", node.args[0] if node.args else None)
        return evaluate(sources, module, default, depth)
    if function in ("int", "float", "str", "bool") and len(node.args) == 1:
        value = evaluate(sources, module, node.args[0], depth)
        if isinstance(value, Computed):
            return value
        number = {"int": int, "float": float, "str": str, "bool": bool}[function](value)
        return None if isinstance(number, float) and not math.isfinite(number) else number
    if function == "get_field" and len(node.args) == 2 and isinstance(node.args[1], ast.Constant):
        return _attribute(sources, module, node.args[0], str(node.args[1].value), depth)
    if function in ("list", "dict", "set", "tuple") and not node.args and not node.keywords:
        return {} if function == "dict" else []
    if not node.args and not node.keywords and isinstance(_class(sources, module, node.func), ast.ClassDef):
        return {}
    return Computed(ast.unparse(node))


def _factory(sources: Sources, module: Module, node: ast.AST, depth: int) -> Any:
    if isinstance(node, ast.Lambda):
        return evaluate(sources, module, node.body, depth)
    if isinstance(node, ast.Name) and node.id in ("list", "set", "tuple"):
        return []
    if (isinstance(node, ast.Name) and node.id == "dict") or isinstance(_class(sources, module, node), ast.ClassDef):
        return {}
    return Computed(f"{ast.unparse(node)}()")


def _class(sources: Sources, module: Module, node: ast.AST) -> ast.AST | None:
    found = sources.locate(module, node)
    return found[1] if found else None


def _name(sources: Sources, module: Module, node: ast.Name | ast.Attribute, depth: int) -> Any:
    text = ast.unparse(node)
    if text == "ssl.CERT_NONE":
        return 0
    if text == "MISSING" or text.endswith(".MISSING"):
        return REQUIRED
    if isinstance(node, ast.Attribute):
        value = _attribute(sources, module, node.value, node.attr, depth)
        if value is not None or not isinstance(node.value, ast.Attribute):
            return value
    found = sources.locate(module, node)
    if found is None or isinstance(found[1], ast.ClassDef | ast.FunctionDef):
        return Computed(text)
    return evaluate(sources, found[0], found[1], depth)


def _attribute(sources: Sources, module: Module, owner: ast.AST, name: str, depth: int) -> Any:
    """`Class.field`: the field's default, or the enum member's written form."""
    found = sources.locate(module, owner)
    if found is not None and isinstance(found[1], ast.ClassDef):
        for statement in found[1].body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=field), value=value) if field == name:
                    return evaluate(sources, found[0], value, depth)
                case ast.Assign(targets=[ast.Name(id=field)], value=value) if field == name:
                    member = evaluate(sources, found[0], value, depth)
                    same = isinstance(member, str) and member.replace("-", "_").lower() == name.lower()
                    return member if same else name
        for base in found[1].bases:
            value = _attribute(sources, found[0], base, name, depth + 1)
            if not isinstance(value, Computed):
                return value
    return Computed(f"{ast.unparse(owner)}.{name}")
