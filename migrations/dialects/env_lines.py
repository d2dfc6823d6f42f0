"""Lines `NAME=value` of `.env` files and systemd's EnvironmentFiles."""

import re
from collections.abc import Iterator

from appliance.migrations.dialects.lines import Logical, logical_lines, word
from appliance.migrations.dialects.pieces import Piece

_LINE = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)(=)")
# `VLLM_X=1 python run.py`: what stands behind the blank is a shell's command, no part of the value
_COMMAND = re.compile(
    r"[ \t]*\w+=[^\s\"'#]*[ \t]+(?:[A-Za-z_]\w*=|(?:\S*/)?"
    r"(?:accelerate|bash|docker|env|exec|nohup|podman|python[\d.]*|ray|sh|srun|torchrun|uv|vllm)(?:[ \t]|$))"
)
_VALUE = re.compile(r"\"(?:\\[\s\S]|[^\"\\])*\"|'[^']*'|(?:\\[\s\S]|[^\n\\#]|(?<=\S)#)*")


def settings(text: str) -> Iterator[tuple[str, str | None, int]]:
    """Name, value where it is known, and line from 1."""
    line = at = 0
    for logical, piece in setting_lines(text):
        name, _, value = piece.text.partition("=")
        line, at = line + text.count("\n", at, logical.start), logical.start
        yield name, None if piece.opaque else value, line + 1


def only_settings(text: str) -> bool:
    """Whether the first lines set variables and do nothing else."""
    lines = [line for line in text.splitlines()[:200] if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and all(_LINE.match(line) and not _COMMAND.match(line) for line in lines)


def setting_lines(text: str) -> list[tuple[Logical, Piece]]:
    found = []
    skip = 0
    for line in logical_lines(text):
        head = _LINE.match(text, line.start, line.end) if line.start >= skip else None
        if not head:
            continue
        value = _VALUE.match(text, head.end())
        end = value.end() if value else head.end()
        while end > head.end() and text[end - 1] in " \t\r":
            end -= 1
        if value and value.group()[:1] in "\"'" and value.group():
            skip = value.end()
        found.append((Logical(line.start, max(line.end, end)), _whole(text, head.start(1), end)))
    return found


def _whole(text: str, start: int, end: int) -> Piece:
    found = word(text, start, end)
    if "'" in text[start:end] or '"' in text[start:end] or "\\" in text[start:end]:
        return found
    return Piece(start, end, text[start:end], opaque=found.opaque)
