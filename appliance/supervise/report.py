"""What `appliance up` says while it runs: to people, or to log collectors where the profile says so."""

import json
import sys
import time
from collections.abc import Sequence
from typing import Protocol

from appliance.plan.diff import Change
from appliance.plan.text import shown
from appliance.supervise.decide import Decision
from appliance.supervise.proposal import Outcome, Proposal
from appliance.supervise.report_words import asked, sentence


class Report(Protocol):
    def heading(self, text: str) -> None: ...

    def stage(self, name: str, seconds: float, detail: str = "") -> None: ...

    def note(self, text: str, level: str = "info") -> None: ...

    def line(self, process: str, text: str) -> None:
        """One line that a child wrote."""
        ...

    def ready(self, seconds: float, url: str, model: str, hint: str) -> None: ...

    def trying(self, revision: int, proposal: Proposal) -> None:
        """A state is looked at."""
        ...

    def decided(self, changes: Sequence[Change], decision: Decision) -> None: ...

    def ended(self, outcome: Outcome, seconds: float) -> None: ...


class TextReport:
    """Stages on standard output, everything else on standard error; colours where that is a terminal."""

    STYLES = {"warning": "yellow", "error": "bold red"}  # noqa: RUF012

    def __init__(self) -> None:
        from appliance.supervise.outlet import Outlet

        self._out = Outlet(highlight=False, soft_wrap=True)
        self._err = Outlet(stderr=True, highlight=False, soft_wrap=True)

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

    def trying(self, revision: int, proposal: Proposal) -> None:
        self.heading(f"revision {revision}: {asked(proposal)}")

    def decided(self, changes: Sequence[Change], decision: Decision) -> None:
        for change in changes:
            self._out.print(
                f"  {change.path}: {shown(change.path, change.before)} -> {shown(change.path, change.after)}",
                markup=False,
            )
        for reason in decision.reasons:
            self._out.print(f"  {decision.action}: {reason}", markup=False)

    def ended(self, outcome: Outcome, seconds: float) -> None:
        for found in outcome.diagnostics:
            self.note(str(found), found.severity)
        style = "bold green" if outcome.good else "bold red" if outcome.result != "superseded" else None
        self._out.print(sentence(outcome, seconds), style=style, markup=False)


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

    def trying(self, revision: int, proposal: Proposal) -> None:
        self._say("info", f"revision {revision}: {asked(proposal)}", revision=revision, source=proposal.source)

    def decided(self, changes: Sequence[Change], decision: Decision) -> None:
        listed = {change.path: [change.before, change.after] for change in changes}
        self._say("info", decision.action, action=decision.action, reasons=decision.reasons, changes=listed)

    def ended(self, outcome: Outcome, seconds: float) -> None:
        for found in outcome.diagnostics:
            self._say(found.severity, str(found), code=found.code)
        fields = {"revision": outcome.revision, "result": outcome.result, "generation": outcome.generation}
        level = "info" if outcome.good or outcome.result == "superseded" else "error"
        self._say(level, sentence(outcome, seconds), seconds=round(seconds, 3), proof=dict(outcome.proof), **fields)

    def _say(self, level: str, message: str, **fields: object) -> None:
        head = {"time": round(time.time(), 3), "level": level, "process": "supervisor", "message": message}
        self._write({**head, **fields})

    def _write(self, record: dict[str, object]) -> None:
        from appliance.supervise.outlet import write_line

        write_line(sys.stderr, json.dumps(record, ensure_ascii=False))


REPORTS: dict[str, type[TextReport] | type[JsonReport]] = {"text": TextReport, "json": JsonReport}
