"""The first state of an appliance: the file's text where it comes up, else the last good revision, loudly."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from appliance.diagnostics import ApplianceError, Position, Severity
from appliance.server.config import ReloadFacts, Sync
from appliance.supervise import findings, probe
from appliance.supervise.crew import ONCE, Fell
from appliance.supervise.detached import detached
from appliance.supervise.errors import cannot_run
from appliance.supervise.failed import STEPS
from appliance.supervise.front import SERVER_GRACE
from appliance.supervise.generation import Generation
from appliance.supervise.history_records import Revision, text_hash
from appliance.supervise.keeper import DiesAgainAndAgain, RefusedToStart
from appliance.supervise.listener import url
from appliance.supervise.parts import Parts
from appliance.supervise.phases import Phases
from appliance.supervise.proposal import Outcome, Proposal, Result
from appliance.supervise.record import Record
from appliance.supervise.restart import RestartPolicy
from appliance.supervise.road import Candidate, Checked, InvalidText
from appliance.supervise.transition import Running, server_config

LOOKED_BACK = 200
"""Revisions among which the file's text is looked for."""


@dataclass(frozen=True)
class First:
    """What came up, and how that relates to the file."""

    running: Running
    facts: ReloadFacts


@dataclass
class FirstBoot:
    parts: Parts
    started: float
    """When the command began, by the monotonic clock."""
    on_running: Callable[[Running], None]
    """Told when processes exist, before they have proven anything."""

    async def run(self) -> First:
        """ApplianceError of the file's text when neither that nor a last good revision comes up."""
        history, file = self.parts.history, Position(str(self.parts.road.file))
        pin = history.pinned
        if pin is not None and (kept := history.get(pin.revision)) and await self._file_hash() == pin.away:
            found = findings.pinned(file, kept.number)
            self.parts.report.note(str(found), "warning")
            running = await self._try(self._again(kept, "rollback"), history.last_good())
            with self.parts.history_kept():
                history.pin(running.revision, pin.away, pin.origin)
            return First(running, ReloadFacts(True, time.time(), "OutOfSync"))
        last_good = history.last_good()
        if last_good is not None and await self._pulled(last_good):
            note = f"revision {last_good.number} again: what was pulled from git, newer than the local file"
            self.parts.report.note(note)
            try:
                proposal = Proposal("boot", last_good.text, note=note, commit=last_good.commit)
                return First(await self._try(proposal, last_good), ReloadFacts(True, time.time()))
            except ApplianceError as error:
                self.parts.report.note(f"{error}\nthe local file is booted instead", "error")
        try:
            running = await self._try(Proposal("boot"), last_good)
            with self.parts.history_kept():
                history.unpin()
            return First(running, ReloadFacts(True, time.time()))
        except ApplianceError as error:
            if last_good is None:
                raise
            sync: Sync = "Invalid" if isinstance(error, InvalidText) else "Degraded"
            found = findings.fallback(file, last_good.number)
            self.parts.report.note(f"{error}\n{found}", "error")
            try:
                running = await self._try(self._again(last_good, "boot"), None)
            except ApplianceError as second:
                raise ApplianceError(error.diagnostics, 2, [f"revision {last_good.number}, too: {second}"]) from second
            return First(running, ReloadFacts(False, 0.0, sync))

    async def _pulled(self, good: Revision) -> bool:
        """Did `good` come from a followed repository, while the file held what it holds now?"""
        if good.commit is None:
            return False
        file = await self._file_hash()
        return any(one.hash == file and one.number < good.number for one in self.parts.history.list(LOOKED_BACK))

    def _again(self, revision: Revision, source: str) -> Proposal:
        note = f"revision {revision.number} again"
        return Proposal("rollback" if source == "rollback" else "boot", revision.text, note=note)

    async def _file_hash(self) -> str:
        try:
            return text_hash(await detached(self.parts.road.file.read_text))
        except (OSError, UnicodeDecodeError):
            return ""

    async def _try(self, proposal: Proposal, instead: Revision | None) -> Running:
        """`instead` = there is another one to boot: this one gets no second chance."""
        record, parts = Record(self.parts.history, self.parts.history_refused), self.parts
        phases = Phases(parts.report, record)
        candidate: Candidate | None = None
        generation: Generation | None = None
        result: Result = "invalid"
        try:
            checked = await self._check(proposal, record)
            result = "rejected"
            self._head(checked, instead)
            phases.add("profile", time.monotonic() - self.started)
            candidate = await detached(lambda: parts.road.plan(checked, record.revision))
            phases.add("model", candidate.seconds["model"], candidate.source.path.name)
            phases.add("plan", candidate.seconds["plan"])
            result = "failed"
            generation = await self._boot(candidate, record.revision, ONCE if instead else parts.policy)
            answer = await self._prove(candidate, generation, instead is not None)
        except ApplianceError as error:
            await self._clear(generation)
            outcome = Outcome(result, record.revision, 0, "boot", diagnostics=tuple(error.diagnostics))
            record.finish(outcome, {}, str(error), candidate.plan.hash if candidate else "")
            raise
        outcome = Outcome("applied" if answer.ready else "failed", record.revision, generation.number, "boot")
        record.finish(outcome, dict(answer.checks), None if answer.ready else answer.reason, candidate.plan.hash)
        return Running(candidate, generation, record.revision)

    async def _check(self, proposal: Proposal, record: Record) -> Checked:
        try:
            checked = await detached(lambda: self.parts.road.check(proposal.text))
        except InvalidText as error:
            record.begin(proposal, error.text, "")
            raise
        record.begin(proposal, checked.document.text, "")
        return checked

    def _head(self, checked: Checked, instead: Revision | None) -> None:
        """Warnings, and the address, which is taken before anything takes long."""
        report, profile = self.parts.report, checked.profile
        for finding in checked.findings:
            report.note(str(finding), "info" if finding.severity is Severity.NOTE else finding.severity)
        listener = self.parts.front.open(profile.security.bind, profile.parallelism.api_servers, checked.position)
        report.heading(f"{profile.name}, release {profile.release}, on {url(listener)}")

    async def _boot(self, candidate: Candidate, revision: int, policy: RestartPolicy) -> Generation:
        parts = self.parts
        generation = parts.engines.make(candidate.plan, policy=policy)
        config = server_config(candidate, generation, revision, ReloadFacts(True, time.time()))
        parts.front.start(parts.servers, config)
        self.on_running(Running(candidate, generation, revision))
        return generation

    async def _prove(self, candidate: Candidate, generation: Generation, strict: bool) -> probe.Readiness:
        """A token has come out of the engine, through the server.

        Not `strict`: a required endpoint that the model cannot serve leaves the
        appliance up and not ready, for the next edit to correct.
        """
        parts, position = self.parts, candidate.checked.position
        keepers = [*generation.keepers, *parts.servers.keepers]
        try:
            await parts.engines.ready(generation, patient=not strict)
            await parts.crew.ready(parts.servers.keepers)
            answer = await probe.poll(probe.local_address(parts.front.listening))
            while not (answer.ready or answer.engine):
                await parts.crew.stays(keepers, 0.0)
                answer = await probe.poll(probe.local_address(parts.front.listening))
        except STEPS as error:
            raise cannot_boot(position(""), error) from error
        if strict and not answer.ready:
            raise cannot_run(position("endpoints"), "AP0606", f"not ready: {answer.reason}", "correct it", "endpoints")
        return answer

    async def _clear(self, generation: Generation | None) -> None:
        parts = self.parts
        await parts.crew.stop(parts.servers.keepers, SERVER_GRACE)
        if generation is not None:
            await parts.engines.stop(generation)
        if parts.front.side is not None:
            await parts.front.close(0.0)


def cannot_boot(position: Position, error: BaseException) -> ApplianceError:
    """The diagnostic for what a process ended with."""
    cause = error.cause if isinstance(error, Fell) else error
    if isinstance(error, Fell) and isinstance(cause, RefusedToStart):
        fact = f"the {error.role.name} cannot start: {cause}"
        return cannot_run(position, "AP0604", fact, "correct it and start again")
    if isinstance(error, Fell) and isinstance(cause, DiesAgainAndAgain):
        fix = "read its last lines above; signal 9 is often a lack of memory"
        return cannot_run(position, "AP0605", f"the {error.role.name} process {cause}", fix)
    return cannot_run(position, "AP0605", str(error), "read the lines above")
