"""A report whose format an edit can change: `observability.log_format` is live for the supervisor's own lines, too."""

from collections.abc import Sequence

from appliance.plan.diff import Change
from appliance.supervise.decide import Decision
from appliance.supervise.proposal import Outcome, Proposal
from appliance.supervise.report import REPORTS, Report


class CurrentReport:
    def __init__(self, format: str) -> None:
        self._made: dict[str, Report] = {}
        self.use(format)

    def use(self, format: str) -> None:
        """From the next line on."""
        self._now = self._made.setdefault(format, REPORTS[format]())

    def heading(self, text: str) -> None:
        self._now.heading(text)

    def stage(self, name: str, seconds: float, detail: str = "") -> None:
        self._now.stage(name, seconds, detail)

    def note(self, text: str, level: str = "info") -> None:
        self._now.note(text, level)

    def line(self, process: str, text: str) -> None:
        self._now.line(process, text)

    def ready(self, seconds: float, url: str, model: str, hint: str) -> None:
        self._now.ready(seconds, url, model, hint)

    def trying(self, revision: int, proposal: Proposal) -> None:
        self._now.trying(revision, proposal)

    def decided(self, changes: Sequence[Change], decision: Decision) -> None:
        self._now.decided(changes, decision)

    def ended(self, outcome: Outcome, seconds: float) -> None:
        self._now.ended(outcome, seconds)
