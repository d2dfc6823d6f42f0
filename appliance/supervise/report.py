"""What `appliance up` says while it runs: to people, or to log collectors where the profile says so."""

import json
import sys
import time
from typing import Protocol


class Report(Protocol):
    def heading(self, text: str) -> None: ...

    def stage(self, name: str, seconds: float, detail: str = "") -> None: ...

    def note(self, text: str, level: str = "info") -> None: ...

    def line(self, process: str, text: str) -> None:
        """One line that a child wrote."""
        ...

    def ready(self, seconds: float, url: str, model: str, hint: str) -> None: ...


class TextReport:
    """Stages on standard output, everything else on standard error; colours where that is a terminal."""

    STYLES = {"warning": "yellow", "error": "bold red"}  # noqa: RUF012

    def __init__(self) -> None:
        from rich.console import Console

        self._out = Console(highlight=False, soft_wrap=True)
        self._err = Console(stderr=True, highlight=False, soft_wrap=True)

    def heading(self, text: str) -> None:
        self._out.print(text, style="bold", markup=False)

    def stage(self, name: str, seconds: float, detail: str = "") -> None:
        self._out.print(f"  {name:<24}{seconds:6.2f} s  {detail}".rstrip(), markup=False)

    def note(self, text: str, level: str = "info") -> None:
        self._err.print(text, style=self.STYLES.get(level), markup=False)

    def line(self, process: str, text: str) -> None:
        self._err.print(f"{process:<6} | {text}", markup=False)

    def ready(self, seconds: float, url: str, model: str, hint: str) -> None:
        self._out.print(f"ready in {seconds:.1f} s: {model} on {url}", style="bold green", markup=False)
        if hint:
            self._out.print(f"\n{hint}\n", markup=False)


class JsonReport:
    """One JSON object per line on standard error, those of the children among them."""

    def heading(self, text: str) -> None:
        self._say("info", text)

    def stage(self, name: str, seconds: float, detail: str = "") -> None:
        self._say("info", name, stage=name, seconds=round(seconds, 3), **({"detail": detail} if detail else {}))

    def note(self, text: str, level: str = "info") -> None:
        self._say(level, text)

    def line(self, process: str, text: str) -> None:
        try:
            record = json.loads(text)
        except ValueError:
            record = None
        if isinstance(record, dict):
            self._write({**record, "process": process})
        else:
            self._write({"time": round(time.time(), 3), "level": "info", "process": process, "message": text})

    def ready(self, seconds: float, url: str, model: str, hint: str) -> None:
        self._say("info", "ready", url=url, model=model, seconds=round(seconds, 3))

    def _say(self, level: str, message: str, **fields: object) -> None:
        head = {"time": round(time.time(), 3), "level": level, "process": "supervisor", "message": message}
        self._write({**head, **fields})

    def _write(self, record: dict[str, object]) -> None:
        print(json.dumps(record, ensure_ascii=False), file=sys.stderr, flush=True)


REPORTS: dict[str, type[TextReport] | type[JsonReport]] = {"text": TextReport, "json": JsonReport}
