"""Everything the catalogue keeps about one release, read from its sources."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.migrations.build.arguments import Argument, Arguments
from appliance.migrations.build.constants import Computed
from appliance.migrations.build.environment import variables
from appliance.migrations.build.fields import class_fields
from appliance.migrations.build.registries import kv_connectors, reasoning_parsers, tool_parsers
from appliance.migrations.build.shapes import Shapes, is_config
from appliance.migrations.build.sources import Module, Sources

Facts = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class ReleaseFacts:
    """options: canonical name -> attributes. classes: config class -> field -> attributes. env: name -> attributes."""

    options: Facts
    classes: dict[str, Facts]
    env: Facts
    python: str


def read_release(root: Path) -> ReleaseFacts:
    """Raises LookupError when the sources are laid out in a way this reader does not know."""
    sources = Sources(root)
    shapes = Shapes(sources)
    module = sources.first("vllm.entrypoints.cli.serve")
    command = module.names["ServeSubcommand"]
    if not isinstance(command, ast.ClassDef):
        raise LookupError("vllm/entrypoints/cli/serve.py: no class ServeSubcommand")
    start = next(item for item in command.body if isinstance(item, ast.FunctionDef) and item.name == "subparser_init")
    arguments = Arguments(sources, shapes)
    arguments.walk(module, start, command)
    paired = "EnableDisableAction" in (root / "vllm/utils/argparse_utils.py").read_text() if _flexible(root) else False
    options = {_name(argument): _option(argument, paired) for argument in arguments.collected}
    classes = _classes(sources, shapes)
    _register(options, "tool-call-parser", tool_parsers(root))
    _register(options, "reasoning-parser", reasoning_parsers(root))
    _register(classes.get("KVTransferConfig", {}), "kv_connector", kv_connectors(root))
    return ReleaseFacts(
        options,
        classes,
        {
            name: _tidy({"type": item.kind, "default": item.default, "values": list(item.values)})
            for name, item in variables(sources, shapes).items()
        },
        _python(root),
    )


def _register(facts: Facts, name: str, values: list[str]) -> None:
    """Plugins may register more, so the list is open."""
    if name in facts and values:
        facts[name] |= {"values": values, "open": True}


def _flexible(root: Path) -> bool:
    return (root / "vllm/utils/argparse_utils.py").is_file()


def _name(argument: Argument) -> str:
    long = [flag for flag in argument.flags if flag.startswith("--")] or argument.flags
    return long[0].lstrip("-").replace("_", "-")


def _option(argument: Argument, paired: bool) -> dict[str, Any]:
    name = _name(argument)
    negations = []
    if argument.action == "toggle":
        negations = [f"--no-{name}"]
        if paired:
            for here, there in (("enable-", "disable-"), ("disable-", "enable-")):
                negations += [f"--{there}{name.removeprefix(here)}"] if name.startswith(here) else []
    kind = _type(argument)
    return _tidy(
        {
            "type": kind,
            "flags": [flag for flag in argument.flags if flag.lstrip("-").replace("_", "-") != name],
            "negations": negations,
            "nargs": _nargs(argument),
            "repeats": argument.action == "append",
            "default": False if argument.action == "switch" and argument.default is None else argument.default,
            "values": _listed(argument.values),
            "open": argument.open,
            "numbered": argument.shape.numbered,
            "bounds": argument.bounds,
            "of": argument.shape.of,
            "field": argument.origin,
            "deprecated": argument.deprecated,
        }
    )


def _nargs(argument: Argument) -> str | int | None:
    """1 for a boolean that wants a word after it, which the engine once had; None where the type says it all."""
    if argument.action in ("toggle", "switch"):
        return None
    return argument.nargs or (1 if argument.kind == "bool" else None)


def _type(argument: Argument) -> str:
    if argument.action in ("toggle", "switch"):
        return "bool"
    if argument.nargs in ("+", "*"):
        return "list"
    kind = argument.kind or "str"
    return "choice" if kind == "str" and argument.values and not argument.open else kind


def _classes(sources: Sources, shapes: Shapes) -> dict[str, Facts]:
    found: dict[str, Facts] = {}
    for module in _config_modules(sources):
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and (is_config(node) or _typed(node)):
                found[node.name] = {
                    item.name: _tidy(
                        {
                            "type": item.shape.kind,
                            "default": item.default,
                            "values": _listed(item.shape.values),
                            "open": item.shape.open,
                            "numbered": item.shape.numbered,
                            "bounds": item.bounds,
                            "of": item.shape.of,
                            "deprecated": item.deprecated,
                        }
                    )
                    for item in class_fields(sources, shapes, module, node).values()
                    if item.settable
                }
    return {name: fields for name, fields in found.items() if fields}


def _typed(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).split("[")[0] in ("TypedDict", "dict") for base in node.bases)


def _config_modules(sources: Sources) -> list[Module]:
    single = sources.root / "vllm/config.py"
    if single.is_file():
        return [sources.first("vllm.config")]
    folder = sources.root / "vllm/config"
    names = sorted(path.stem for path in folder.glob("*.py"))
    return [sources.first("vllm.config" if name == "__init__" else f"vllm.config.{name}") for name in names]


def _python(root: Path) -> str:
    metadata = next(root.glob("*.dist-info/METADATA")).read_text()
    return next(line.split(": ", 1)[1] for line in metadata.splitlines() if line.startswith("Requires-Python: "))


def _listed(values: tuple[Any, ...]) -> list[Any]:
    return sorted({value for value in values if value is not None}, key=str)


def _tidy(attributes: dict[str, Any]) -> dict[str, Any]:
    """Without what says nothing; a default is kept always, since null is a default too."""
    kept = {key: value for key, value in attributes.items() if value not in (None, False, "", [], {})}
    return kept | {"default": _plain(attributes.get("default"))}


def _plain(value: Any) -> Any:
    if isinstance(value, Computed):
        return {"computed": value.text}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
