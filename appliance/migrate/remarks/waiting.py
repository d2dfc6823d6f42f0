"""Scripts that wait a fixed time for a server instead of asking it."""

import re
from collections.abc import Iterator

from appliance.diagnostics import Severity

from ..finding import Finding
from .scene import Scene, remark

_SLEEP = re.compile(r"^[ \t]*sleep[ \t]+(\d+)[ms]?[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
_ASKS = re.compile(r"\b(?:until|while)\b[^\n]*\b(?:curl|wget|nc)\b")
_LOOP = re.compile(r"(?:^|;)[ \t]*(do|done)\b", re.MULTILINE)
_LEAST = 10


def waiting_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    """With the first deployment of a script, about the first such wait behind the start of a server."""
    if index or scene.dialect not in ("shell", "makefile") or _ASKS.search(scene.text):
        return
    begun = min((site.element.start for one in scene.deployments for site in one.sites), default=0)
    found = next((found for found in _SLEEP.finditer(scene.text, begun) if int(found[1]) >= _LEAST), None)
    if found and not _in_loop(scene.text[: found.start()]):
        fact = "a wait of fixed length does not tell whether the server answers yet"
        fix = "wait for it: until curl -sf http://127.0.0.1:PORT/health; do sleep 1; done"
        place = scene.lines.at(found.start() + found.group().index("s"))
        yield remark("VM0111", Severity.NOTE, f"sleep {found[1]}", fact, fix, place)


def _in_loop(text: str) -> bool:
    """Whether a loop is open at the end; what waits there asks again."""
    words = _LOOP.findall(text)
    return words.count("do") > words.count("done")
