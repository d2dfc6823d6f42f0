"""What would change, as a unified diff in which no secret is legible."""

import re
from collections.abc import Iterator
from difflib import unified_diff

from appliance.migrations.values import SECRETS, templated
from appliance.profile.quoting import covered
from appliance.profile.spoken import spoken

from .finding import Result

COVER = "[•••]"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def diff(result: Result) -> Iterator[str]:
    """Lines without their ends (a carriage return is left out too); empty where nothing changes."""
    if not result.changes:
        return
    secrets = tuple(_secrets(result))
    name = result.path.lstrip("/")
    old, new = _lines(result.text), _lines(result.new_text)
    for line in unified_diff(old, new, f"a/{name}", f"b/{name}"):
        shown = line.removesuffix("\n")
        yield covered(_hidden(shown, secrets))
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _lines(text: str) -> list[str]:
    """Lines as other programs count them, with their line feeds."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _secrets(result: Result) -> Iterator[tuple[str, str]]:
    """Names and texts of what must not be repeated; a variable that names a secret may be."""
    for outcome in result.outcomes:
        for site in outcome.deployment.sites:
            text = site.raw_value or ""
            if site.name in SECRETS and text and not templated(text):
                yield site.raw_name, text


def _hidden(line: str, secrets: tuple[tuple[str, str], ...]) -> str:
    for name, text in secrets:
        if text in line and (len(text) > 5 or name in line):
            head, found, tail = line.partition(name) if name in line else ("", "", line)
            line = head + found + tail.replace(text, COVER)
    for first, end in spoken(line):
        line = line[:first] + COVER + line[end:]
    return _CONTROL.sub(lambda found: "" if found[0] == "\r" else "?", line)
