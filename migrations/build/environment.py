"""Reads the environment variables that the engine declares in envs.py."""

import ast
from dataclasses import dataclass
from typing import Any

from appliance.migrations.build.constants import Computed, evaluate
from appliance.migrations.build.shapes import Shape, Shapes
from appliance.migrations.build.sources import Module, Sources

_READERS = ("os.getenv", "os.environ.get", "getenv", "environ.get")
_CHOOSERS = ("env_with_choices", "env_list_with_choices", "env_set_with_choices")


@dataclass(frozen=True)
class Variable:
    """kind: bool int float str. default: the declared one, else the reader's fallback. values: empty when free."""

    kind: str
    default: Any
    values: tuple[Any, ...]


def variables(sources: Sources, shapes: Shapes) -> dict[str, Variable]:
    module = sources.first("vllm.envs")
    declared = _declared(sources, shapes, module)
    table = module.names["environment_variables"]
    if not isinstance(table, ast.Dict):
        raise LookupError("vllm/envs.py: environment_variables is no plain dict any more")
    found = {}
    for key, reader in zip(table.keys, table.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            shape, default = declared.get(key.value, (Shape(), None))
            fallback, choices = _reader(sources, module, key.value, reader)
            kind = shape.kind if shape.kinds & {"bool", "int", "float"} else _kind(reader)
            default = fallback if key.value not in declared else default
            found[key.value] = Variable(kind, default, tuple(sorted(map(str, choices or shape.values))))
    return found


def _declared(sources: Sources, shapes: Shapes, module: Module) -> dict[str, tuple[Shape, Any]]:
    found = {}
    for block in module.tree.body:
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test):
            for item in block.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    default = evaluate(sources, module, item.value)
                    found[item.target.id] = (shapes.of(module, item.annotation), default)
    return found


def _reader(sources: Sources, module: Module, name: str, reader: ast.expr) -> tuple[Any, list[Any]]:
    fallback: Any = None
    choices: list[Any] = []
    for call in ast.walk(reader):
        if not isinstance(call, ast.Call):
            continue
        function = ast.unparse(call.func)
        if function in _READERS and call.args and getattr(call.args[0], "value", None) == name:
            fallback = evaluate(sources, module, call.args[1]) if len(call.args) > 1 else None
        elif function.split(".")[-1] in _CHOOSERS:
            fallback = evaluate(sources, module, call.args[1]) if len(call.args) > 1 else None
            named = next((keyword.value for keyword in call.keywords if keyword.arg == "choices"), None)
            listed = call.args[2] if len(call.args) > 2 else named
            value = evaluate(sources, module, listed) if listed is not None else []
            choices = value if isinstance(value, list) else []
    return (None if isinstance(fallback, Computed) else fallback), choices


def _kind(reader: ast.expr) -> str:
    text = ast.unparse(reader)
    if "bool(" in text or "in ('1', 'true')" in text:
        return "bool"
    return "int" if "int(" in text else "float" if "float(" in text else "str"
