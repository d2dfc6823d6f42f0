"""Walks the functions that build `vllm serve`'s parser and collects every add_argument call."""

import ast
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from appliance.migrations.build.choices import choices_of
from appliance.migrations.build.constants import evaluate
from appliance.migrations.build.fields import class_fields
from appliance.migrations.build.shapes import Shape, Shapes
from appliance.migrations.build.sources import Module, Sources


@dataclass
class Argument:
    """What one add_argument call, or the config field behind it, says."""

    flags: list[str] = field(default_factory=list)
    shape: Shape = field(default_factory=Shape)
    kind: str = ""
    action: str = ""
    nargs: str | int | None = None
    default: Any = None
    values: tuple[Any, ...] = ()
    open: bool = False
    bounds: dict[str, float] = field(default_factory=dict)
    origin: str = ""
    deprecated: bool = False


Table = dict[str, Argument]

_SIGNS = (
    ("json.loads", "json"),
    (".from_json", "json"),
    (".from_cli", "json"),
    ("human_readable_int", "int"),
    ("StoreBoolean", "bool"),
)


@dataclass
class _Scope:
    module: Module
    names: dict[str, Any]
    owner: ast.ClassDef | None = None


class Arguments:
    """Every argument of the serve command, in order; `collected` fills while `walk` runs."""

    def __init__(self, sources: Sources, shapes: Shapes) -> None:
        self.sources = sources
        self.shapes = shapes
        self.collected: list[Argument] = []

    def walk(self, module: Module, function: ast.FunctionDef, owner: ast.ClassDef | None, *given: Any) -> Any:
        """Runs the statements in order, both arms of every `if`; gives what the function returns when that is known."""
        names = dict(zip([argument.arg for argument in function.args.args], given, strict=False))
        return self._block(function.body, _Scope(module, names, owner))

    def _block(self, body: list[ast.stmt], scope: _Scope) -> Any:
        returned = None
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    scope.names[name] = self._value(value, scope)
                case ast.Assign(targets=[ast.Subscript() as target], value=value):
                    self._set(target, value, scope)
                case ast.Delete(targets=[ast.Subscript() as target]):
                    self._delete(target, scope)
                case ast.Expr(value=ast.Call() as call):
                    self._value(call, scope)
                case ast.If() if not _asks_for_help(statement.test):
                    returned = self._block(statement.body, scope) or returned
                    returned = self._block(statement.orelse, scope) or returned
                case ast.If():
                    self._block(statement.body, scope)
                case ast.With() | ast.Try():
                    returned = self._block(statement.body, scope) or returned
                case ast.For():
                    self._loop(statement, scope)
                case ast.Return(value=ast.expr() as value):
                    returned = self._value(value, scope)
        return returned

    def _value(self, node: ast.expr, scope: _Scope) -> Any:
        match node:
            case ast.Name(id=name):
                return scope.names.get(name)
            case ast.Dict(keys=[None, *keys], values=[spread, *values]):
                return self._overridden(spread, keys, values, scope)
            case ast.Subscript(value=table, slice=ast.Constant(value=str() as key)):
                base = self._value(table, scope)
                return base.get(key) if isinstance(base, dict) else None
            case ast.Call():
                return self._call(node, scope)
        return None

    def _overridden(
        self, spread: ast.expr, keys: list[ast.expr | None], values: list[ast.expr], scope: _Scope
    ) -> Argument | None:
        """`{**kwargs["field"], "default": None}`"""
        base = self._value(spread, scope)
        if not isinstance(base, Argument):
            return None
        changed = replace(base)
        for key, value in zip(keys, values, strict=True):
            if isinstance(key, ast.Constant):
                self._keyword(changed, str(key.value), value, scope.module)
        return changed

    def _call(self, node: ast.Call, scope: _Scope) -> Any:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if name == "add_argument":
            self._add(node, scope)
        elif name in ("get_kwargs", "nullable_kwargs") and node.args:
            return self._table(node.args[0], scope)
        elif name == "remove" and isinstance(node.func, ast.Attribute):
            self._remove_choice(node, scope)
        elif name in ("add_cli_args", "make_arg_parser", "_customize_cli_kwargs"):
            return self._enter(node, name, scope)
        return None

    def _enter(self, node: ast.Call, name: str, scope: _Scope) -> Any:
        given = [self._value(argument, scope) for argument in node.args]
        if name == "make_arg_parser":
            found = self.sources.locate(scope.module, node.func)
            if found and isinstance(found[1], ast.FunctionDef):
                return self.walk(found[0], found[1], None, *given)
            return None
        receiver = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if receiver in ("cls", "super()"):
            where = (scope.module, scope.names.get("cls") or scope.owner)
        else:
            found = self.sources.resolve(scope.module, receiver)
            where = found if found and isinstance(found[1], ast.ClassDef) else (scope.module, None)
        home, owner = where
        if not isinstance(owner, ast.ClassDef):
            return None
        return self._method(home, owner, name, given, scope.owner if receiver == "super()" else None)

    def _method(
        self, home: Module, start: ast.ClassDef, name: str, given: list[Any], after: ast.ClassDef | None
    ) -> Any:
        """Calls `name` as found along the class's bases; for super(), only behind the class `after`."""
        passed = after is None
        line = [(home, start)]
        for module, node in line:
            method = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == name), None)
            if method is not None and passed:
                static = any(ast.unparse(d) == "staticmethod" for d in method.decorator_list)
                return self.walk(module, method, node, *(given if static else [start, *given]))
            passed = passed or node is after
            for base in node.bases:
                found = self.sources.locate(module, base)
                if found and isinstance(found[1], ast.ClassDef):
                    line.append((found[0], found[1]))
        return None

    def _table(self, node: ast.expr, scope: _Scope) -> Table:
        found: tuple[Module, Any] | None = self.sources.locate(scope.module, node)
        if isinstance(node, ast.Name) and isinstance(scope.names.get(node.id), ast.ClassDef):
            found = (scope.module, scope.names[node.id])
        if found is None or not isinstance(found[1], ast.ClassDef):
            return {}
        fields = class_fields(self.sources, self.shapes, found[0], found[1])
        return {
            name: Argument(
                shape=item.shape,
                kind=item.shape.kind,
                default=item.default,
                values=item.shape.values,
                open=item.shape.open,
                bounds=item.bounds,
                origin=f"{item.owner}.{name}",
                nargs={"list": "+", "bool-or-str": "?"}.get(item.shape.kind),
                action="toggle" if item.shape.kind == "bool" else "",
            )
            for name, item in fields.items()
        }

    def _set(self, target: ast.Subscript, value: ast.expr, scope: _Scope) -> None:
        entry = self._value(target.value, scope)
        if isinstance(entry, Argument) and isinstance(target.slice, ast.Constant):
            self._keyword(entry, str(target.slice.value), value, scope.module)

    def _delete(self, target: ast.Subscript, scope: _Scope) -> None:
        entry = self._value(target.value, scope)
        if isinstance(entry, Argument) and isinstance(target.slice, ast.Constant) and target.slice.value == "nargs":
            entry.nargs = None

    def _remove_choice(self, node: ast.Call, scope: _Scope) -> None:
        match node.func:
            case ast.Attribute(value=ast.Subscript(value=table, slice=ast.Constant(value="choices"))):
                entry = self._value(table, scope)
                gone = evaluate(self.sources, scope.module, node.args[0])
                if isinstance(entry, Argument):
                    entry.values = tuple(value for value in entry.values if value != gone)

    def _loop(self, node: ast.For, scope: _Scope) -> None:
        """`for key, value in kwargs.items(): group.add_argument(f"--{key}", **value)`"""
        match node.iter:
            case ast.List(elts=rows) if isinstance(node.target, ast.Tuple):
                self._rows(node, [row.elts for row in rows if isinstance(row, ast.Tuple)], scope)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="items")):
                table = scope.names.get(name)
                if isinstance(table, dict):
                    for key, entry in table.items():
                        self.collected.append(replace(entry, flags=[*entry.flags, f"--{key.replace('_', '-')}"]))

    def _rows(self, node: ast.For, rows: list[list[ast.expr]], scope: _Scope) -> None:
        """`for flag, type in [("--x", str), ...]: group.add_argument(flag, type=type)`"""
        names = [ast.unparse(name) for name in node.target.elts] if isinstance(node.target, ast.Tuple) else []
        for row in rows:
            body = _Substitute(dict(zip(names, row, strict=True))).visit(deepcopy(ast.Module(node.body, [])))
            self._block(body.body, scope)

    def _add(self, node: ast.Call, scope: _Scope) -> None:
        argument = Argument()
        for keyword in node.keywords:
            if keyword.arg is None:
                base = self._value(keyword.value, scope)
                argument = replace(base) if isinstance(base, Argument) else argument
        argument.flags = [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
        for keyword in node.keywords:
            if keyword.arg is not None:
                self._keyword(argument, keyword.arg, keyword.value, scope.module)
        if argument.flags:
            self.collected.append(argument)

    def _keyword(self, argument: Argument, name: str, node: ast.expr, module: Module) -> None:
        if name == "default":
            argument.default = evaluate(self.sources, module, node)
        elif name == "action":
            argument.action = _action(ast.unparse(node))
        elif name == "nargs":
            value = evaluate(self.sources, module, node)
            argument.nargs = value if isinstance(value, str | int) else None
        elif name == "type":
            argument.kind = _kind(ast.unparse(node)) or argument.kind
            if isinstance(node, ast.Attribute) and argument.kind == "json" and node.attr.startswith("from_"):
                argument.shape = self.shapes.of(module, node.value)
        elif name == "choices":
            argument.values = tuple(choices_of(self.shapes, module, node))
            argument.open = isinstance(node, ast.BinOp)
        elif name == "deprecated":
            argument.deprecated = isinstance(node, ast.Constant) and bool(node.value)
        elif name == "flags":
            value = evaluate(self.sources, module, node)
            argument.flags = [str(flag) for flag in value] if isinstance(value, list) else argument.flags


class _Substitute(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def _asks_for_help(test: ast.expr) -> bool:
    return "--help" in ast.unparse(test)


def _action(text: str) -> str:
    word = text.strip("'\"")
    if word.endswith("BooleanOptionalAction"):
        return "toggle"
    return "switch" if word in ("store_true", "store_false", "StoreBoolean") else word


def _kind(text: str) -> str:
    """The catalogue's word for an argparse `type=`; empty when it tells nothing new."""
    for sign, word in _SIGNS:
        if sign in text:
            return word
    inner = text.removeprefix("optional_type(").removeprefix("nullable_").removesuffix(")")
    return inner if inner in ("str", "int", "float", "bool") else ""
