"""The second tier's findings: pydantic's errors as diagnostics at the key or value they speak of."""

import json
import re
from typing import Any

import yaml

from ..diagnostics import Diagnostic, Severity
from .document import Document
from .fields import Declared, all_fields
from .nearest import elsewhere, nearest
from .nodes import Node, Path, Scalar, dotted
from .quoting import printable, short

SECRET_PLACES = ("security.api_keys",)
BOOLEANS = {"true", "false", "yes", "no", "on", "off", "y", "n"}
LONG_INTEGER = re.compile(r"[-+]?[0-9]{19,}")
Said = tuple[str, str, str]
"""code, fact, way out"""


def is_secret(path: str) -> bool:
    return any(path == place or path.startswith((f"{place}[", f"{place}.")) for place in SECRET_PLACES)


def schema_findings(document: Document, data: Any, errors: list[Any]) -> list[Diagnostic]:
    """One diagnostic per place; the branches of a union count as one."""
    found: dict[tuple[Path, str], Diagnostic] = {}
    for error in errors:
        path, value, field = locate(data, error)
        key = (path, str(error["loc"][-1]) if error["type"] in ("missing", "extra_forbidden") else "")
        if key in found:
            continue
        code, fact, fix = say(error, document, path, value, field)
        if isinstance(node := document.node(path), Scalar) and "${" in node.raw and not is_secret(dotted(path)):
            fix = fix if code == "AP0104" else "its value comes from the environment"
        if not fix:
            fix = f"`appliance explain {field.path}` describes it" if field else "remove it"
        at = document.key_position(path) if error["type"] == "extra_forbidden" else document.position(path)
        found[key] = Diagnostic(code, Severity.ERROR, at, printable(dotted(path), 200), fact, fix)
    return list(found.values())


def locate(data: Any, error: Any) -> tuple[Path, Any, Declared | None]:
    """Path in the data (names of union branches left out), the value there, and the field's declaration."""
    path: list[str | int] = []
    for step in error["loc"]:
        if (isinstance(data, dict) and step in data) or (isinstance(data, tuple) and step in range(len(data))):
            data = data[step]
            path.append(step)
    if error["type"] == "missing":
        path.append(error["loc"][-1])
    generic = dotted(tuple(path))
    for index in {step for step in path if isinstance(step, int)}:
        generic = generic.replace(f"[{index}]", "[]")
    fields = all_fields()
    field = fields.get(generic) or fields.get(generic.removesuffix("[]")) or fields.get(generic.rpartition(".")[0])
    return tuple(path), data, field


def shown(document: Document, path: Path, value: Any) -> str:
    """The seen value as it is written; never a secret, never what a variable held."""
    if isinstance(value, dict | tuple):
        return "a mapping" if isinstance(value, dict) else "a list"
    if is_secret(dotted(path)):
        return "a value that is not shown"
    node = document.node(path)
    if isinstance(node, Scalar):
        text = node.raw if node.plain else json.dumps(node.raw, ensure_ascii=False)
        if isinstance(value, str) and node.plain:
            text = json.dumps(text, ensure_ascii=False)
        return printable(text) or "nothing"
    return "nothing"


def say(error: Any, document: Document, path: Path, value: Any, field: Declared | None) -> Said:
    seen = shown(document, path, value)
    kind, context = error["type"], error.get("ctx", {})
    if is_secret(dotted(path)) and isinstance(value, str) and kind != "string_pattern_mismatch":
        return secret_written(value)
    if kind == "extra_forbidden":
        return unknown_key(path)
    if kind == "missing":
        return "AP0102", "this key is missing", add_it(field)
    if kind == "wants":
        return "AP0103", f"{seen} is not {context['what']}", context["fix"]
    words = field.words if field else ()
    form = str(field.extra.get("x-form", "")) if field else ""
    if kind in ("bool_type", "bool_parsing") and isinstance(value, str) and value.lower() in BOOLEANS:
        right = "true" if value.lower() in ("true", "yes", "on", "y") else "false"
        return "AP0015", f"{seen} is a quoted word where a boolean is wanted", f"write {right} without quotes"
    if isinstance(value, str) and words:
        return unknown_word(value, seen, words, form)
    if kind == "literal_error" and isinstance(value, bool):
        return (
            "AP0104",
            f"{seen} is not one of {', '.join(words)}",
            f"write {'on' if value else 'off'}" if "on" in words else "",
        )
    if kind == "literal_error":
        return "AP0104", f"{seen} is not {context.get('expected', 'known')}", f"write {context.get('expected')}"
    if kind in BOUNDS:
        limit, fact, way_out = BOUNDS[kind]
        bound = context[limit]
        return "AP0105", f"{seen} is {fact.format(bound)}", way_out.format(bound, unit_of(field))
    if kind in ("string_too_short", "too_short"):
        return "AP0105", f"{seen} is empty" if value == "" else f"{seen} holds too little", ""
    if kind == "string_pattern_mismatch":
        return "AP0106", f"{seen} is not {form or 'of the right form'}", ""
    if kind == "int_type" and is_long_integer(document.node(path)):
        return "AP0105", f"{seen} is too large", "write a number of at most 18 digits"
    if form and kind not in ("string_type", "model_type"):
        return "AP0103", f"{seen} is not {form}", ""
    return "AP0103", f"{seen} is not {WANTED.get(kind, str(error['msg']).lower())}", repair(kind, value, document, path)


# kind of error -> (name of its limit, fact, way out)
BOUNDS: dict[str, tuple[str, str, str]] = {
    "greater_than_equal": ("ge", "below {:g}", "write {:g}{} or more"),
    "greater_than": ("gt", "not above {:g}", "write more than {:g}{}"),
    "less_than_equal": ("le", "above {:g}", "write {:g}{} or less"),
    "less_than": ("lt", "not below {:g}", "write less than {:g}{}"),
}
WANTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def is_long_integer(node: Node | None) -> bool:
    """Beyond what is read as a whole number: it arrives as text or as a float."""
    return isinstance(node, Scalar) and node.plain and LONG_INTEGER.fullmatch(node.raw) is not None


def add_it(field: Declared | None) -> str:
    what = (field.info.description or "").rstrip(".") if field else ""
    return f"add it: {what if what[:2].isupper() else what[:1].lower() + what[1:]}" if what else "add it"


def unit_of(field: Declared | None) -> str:
    unit = field.extra.get("x-unit") if field else None
    return f" {unit}" if unit and "," not in unit else ""


def repair(kind: str, value: Any, document: Document, path: Path) -> str:
    node = document.node(path)
    if kind == "string_type" and isinstance(node, Scalar) and value is not None:
        return f"write {short(node.raw)} with quotes"
    if kind in ("int_type", "float_type") and isinstance(value, str) and value.replace(".", "", 1).isdecimal():
        return f"write {value} without quotes"
    if kind == "tuple_type" and isinstance(node, Scalar) and value is not None:
        return f"write {_as_list(printable(node.raw))}"
    if kind in ("model_type", "model_attributes_type", "dict_type") and value is None:
        return "indent its keys below it, or remove it"
    return ""


def _as_list(text: str) -> str:
    """In flow style, quoted where the bare word would mean something else there."""
    return yaml.safe_dump([text], default_flow_style=True, allow_unicode=True, width=10_000).rstrip()


def unknown_key(path: Path) -> Said:
    key = str(path[-1])
    parent = dotted(path[:-1])
    prefix = f"{parent}." if parent else ""
    for index in [step for step in path if isinstance(step, int)]:
        prefix = prefix.replace(f"[{index}]", "[]")
    siblings = [
        name.removeprefix(prefix) for name in all_fields() if name.startswith(prefix) and "." not in name[len(prefix) :]
    ]
    where = f"no key of {parent}" if parent else "no key of a profile"
    near, home = nearest(key, siblings), elsewhere(key)
    if near:
        fix = f'did you mean "{near}"?'
    elif home == key:
        fix = f"{key} stands at the top level of the profile, not in {parent}"
    elif home:
        fix = f"did you mean {home}?"
    else:
        fix = f"known: {', '.join(siblings)}"
    return "AP0101", where, fix


def unknown_word(value: str, seen: str, words: tuple[str, ...], form: str) -> Said:
    near = nearest(value, words)
    if near == value:
        return "AP0103", f"{seen} is not of the right form", ""
    return (
        "AP0104",
        f"{seen} is not {form or 'one of the words known here'}",
        f'did you mean "{near}"?' if near else f"known: {', '.join(words)}",
    )


def secret_written(value: str) -> Said:
    if not value:
        return "AP0107", "an empty API key", "write {env: NAME} or {file: PATH}, or remove it"
    name = value[2:-1].partition(":")[0] if value.startswith("${") and value.endswith("}") else "NAME"
    return (
        "AP0107",
        "an API key written in the profile (its value is not shown)",
        f"write {{env: {name}}} or {{file: PATH}}",
    )
