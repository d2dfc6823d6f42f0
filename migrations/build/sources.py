"""Finds definitions in the engine's sources without importing them: follows `from x import y` between files."""

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = "vllm"
_HOPS = 12


@dataclass(frozen=True)
class Module:
    """One source file; `names` maps every top-level name to the node that defines it or the import that brings it."""

    dotted: str
    package: bool
    tree: ast.Module

    @cached_property
    def names(self) -> dict[str, ast.AST]:
        found: dict[str, ast.AST] = {}
        _collect(self.tree.body, found)
        return found

    def absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.dotted.split(".") if self.package else self.dotted.split(".")[:-1]
        parts = parts[: len(parts) - (node.level - 1)]
        return ".".join([*parts, node.module] if node.module else parts)


def _collect(body: list[ast.stmt], found: dict[str, ast.AST]) -> None:
    for node in body:
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                found[node.name] = node
            case ast.Assign(targets=[ast.Name(id=name)]):
                found.setdefault(name, node.value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found.setdefault(name, value)
            case ast.ImportFrom():
                for alias in node.names:
                    found.setdefault(alias.asname or alias.name, node)
            case ast.Import():
                for alias in node.names:
                    found.setdefault(alias.asname or alias.name, node)
            case ast.If():
                # The first arm wins: `if TYPE_CHECKING` holds the real types, its `else` the stand-ins.
                _collect(node.body, found)
                _collect(node.orelse, found)
            case ast.Try():
                _collect(node.body, found)
                for handler in node.handlers:
                    _collect(handler.body, found)
            case _:
                pass


class Sources:
    """The Python files of one release."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._modules: dict[str, Module | None] = {}

    def module(self, dotted: str) -> Module | None:
        if dotted not in self._modules:
            base = self.root.joinpath(*dotted.split("."))
            candidates = ((base.with_suffix(".py"), False), (base / "__init__.py", True))
            found = next(((path, package) for path, package in candidates if path.is_file()), None)
            self._modules[dotted] = found and Module(dotted, found[1], ast.parse(found[0].read_text()))
        return self._modules[dotted]

    def first(self, *dotted: str) -> Module:
        """The first of these modules that the release has; raises LookupError when it has none."""
        for name in dotted:
            module = self.module(name)
            if module is not None:
                return module
        raise LookupError(f"none of {', '.join(dotted)} in {self.root}")

    def resolve(self, module: Module, name: str, hops: int = 0) -> tuple[Module, ast.AST] | None:
        """Where `name`, seen from `module`, is defined, and by which node: class, function or assigned value."""
        if hops > _HOPS:
            return None
        node = module.names.get(name)
        if node is None:
            for statement in module.tree.body:
                if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                    source = self.module(module.absolute(statement))
                    found = source and self.resolve(source, name, hops + 1)
                    if found:
                        return found
            return None
        if isinstance(node, ast.Import):
            return None
        if not isinstance(node, ast.ImportFrom):
            return module, node
        source_name = module.absolute(node)
        if not source_name.startswith(PACKAGE):
            return None
        original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
        source = self.module(source_name)
        if source is None or source is module:
            return None
        return self.resolve(source, original, hops + 1)

    def locate(self, module: Module, node: ast.AST) -> tuple[Module, ast.AST] | None:
        """As resolve, for a name or a dotted expression such as `envs.X` or `vllm.config.CacheConfig`."""
        if isinstance(node, ast.Name):
            return self.resolve(module, node.id)
        if isinstance(node, ast.Attribute):
            base = ast.unparse(node.value)
            imported = module.names.get(base)
            if isinstance(imported, ast.Import):
                base = next(alias.name for alias in imported.names if (alias.asname or alias.name) == base)
            for dotted in (base, f"{PACKAGE}.{base}", f"{PACKAGE}.{base.split('.')[-1]}"):
                source = self.module(dotted) if dotted.startswith(PACKAGE) else None
                if source is not None:
                    return self.resolve(source, node.attr)
        return None
