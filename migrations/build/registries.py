"""Names that the engine registers in code rather than in types: tool and reasoning parsers, KV connectors."""

import ast
from collections.abc import Iterator
from pathlib import Path

_TOOL_PARSERS = ("vllm/tool_parsers", "vllm/entrypoints/openai/tool_parsers")
_REASONING_PARSERS = ("vllm/reasoning",)
_CONNECTORS = "vllm/distributed/kv_transfer/kv_connector/factory.py"
_REGISTERS = ("register_module", "register_connector", "register_lazy_module")


def tool_parsers(root: Path) -> list[str]:
    return _names(root, _TOOL_PARSERS)


def reasoning_parsers(root: Path) -> list[str]:
    return _names(root, _REASONING_PARSERS)


def kv_connectors(root: Path) -> list[str]:
    path = root / _CONNECTORS
    return sorted(set(_registered(path))) if path.is_file() else []


def _names(root: Path, folders: tuple[str, ...]) -> list[str]:
    files = [path for folder in folders for path in sorted((root / folder).glob("*.py"))]
    return sorted({name for path in files for name in _registered(path)})


def _registered(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Assign(targets=[ast.Name(id=table)], value=ast.Dict(keys=keys)) if table.endswith("_TO_REGISTER"):
                yield from _texts(keys)
            case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) if name in _REGISTERS:
                yield from _texts(first.elts if isinstance(first, ast.List) else [first])
            case ast.Call(func=ast.Attribute(attr=name), keywords=keywords) if name in _REGISTERS:
                yield from _texts([keyword.value for keyword in keywords if keyword.arg == "name"])


def _texts(nodes: list[ast.expr] | list[ast.expr | None]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
