"""How each syntax quotes: shell words, shell option strings, JSON lists, systemd lines."""

import json
import re
import shlex

from appliance.migrations.dialects.pieces import CannotWriteError, Syntax

_IN_DOUBLE = re.compile(r'([\\"$`])')
_CONTINUED = r"\\\r?\n"


def shell_inside(new: str, mode: str) -> str:
    if not new:
        return ""
    if mode == "'":
        return new.replace("'", "'\\''")
    if mode == '"':
        return _IN_DOUBLE.sub(r"\\\1", new)
    if mode == "$":
        return json.dumps(new, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
    if mode == "?":
        raise CannotWriteError("the value is put together from several quoted parts")
    return shlex.quote(new)


def shell_raw(text: str) -> str:
    """Something that the shell fills in, kept in one word."""
    if not re.search(r"\s", text) and '"' not in text:
        return f'"{text}"' if "$" in text or "`" in text else text
    if '"' not in text or "$(" in text:
        return f'"{text}"'
    raise CannotWriteError("the value is put together from several quoted parts")


def _no_space(text: str) -> str:
    if not text or re.search(r"\s", text):
        raise CannotWriteError("the options stand in one string that the shell splits at spaces, and this needs one")
    return text


def _in_json(new: str, mode: str) -> str:
    return json.dumps(new, ensure_ascii=False)[1:-1]


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def systemd_inside(new: str, mode: str) -> str:
    if not new:
        return ""
    escaped = new.replace("\\", "\\\\").replace("%", "%%").replace("$", "$$")
    if mode in "'\"":
        return escaped.replace(mode, "\\" + mode)
    if mode == "?":
        raise CannotWriteError("the value is put together from several quoted parts")
    if re.search(r"[\s'\";]", escaped):
        raise CannotWriteError("the value needs quotes where none can be put")
    return escaped


def systemd_quote(text: str) -> str:
    if text and not re.search(r"[\s'\";#]", text):
        return systemd_inside(text, " ")
    mark = '"' if "'" in text else "'"
    return mark + systemd_inside(text, mark) + mark


SHELL = Syntax(shlex.quote, shell_inside, shell_raw, re.compile(rf"(?:[ \t\r]|{_CONTINUED})*"), remarks=True)
ARRAY = Syntax(shlex.quote, shell_inside, shell_raw, re.compile(rf"(?:\s|{_CONTINUED}|(?<=[\s(])#[^\n]*)*"))
SPLIT = Syntax(
    _no_space,
    lambda new, mode: _no_space(new) if new else new,
    _no_space,
    re.compile(rf"(?:\s|{_CONTINUED})*"),
    compact=True,
)
JSON_LIST = Syntax(_as_json, _in_json, _as_json, re.compile(rf"(?:[\s,]|{_CONTINUED})*"), separator=", ", whole=True)
SYSTEMD = Syntax(
    systemd_quote,
    systemd_inside,
    lambda text: text,
    re.compile(rf"(?:[ \t\r]|{_CONTINUED}(?:[ \t]*[#;][^\n]*\n)*)*"),
    whole=True,
)
DOCKER = Syntax(
    shlex.quote, shell_inside, shell_raw, re.compile(rf"(?:[ \t\r]|{_CONTINUED}(?:[ \t]*(?:#[^\n]*)?\n)*)*")
)


def bare(text: str) -> str:
    """For lines that know no quotes."""
    if "\n" in text:
        raise CannotWriteError("the value has several lines")
    return text


BARE = Syntax(bare, lambda new, mode: bare(new), bare, re.compile(r"[ \t]*"))
