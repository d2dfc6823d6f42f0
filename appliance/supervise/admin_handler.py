"""What the supervisor answers on the admin channel."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from appliance.diagnostics import ApplianceError, Position
from appliance.plan import diff_plans
from appliance.supervise.admin_answers import tried
from appliance.supervise.admin_protocol import Planned, Text
from appliance.supervise.backends import engine_change
from appliance.supervise.decide import Decision, DoesNotFit, Situation, decide
from appliance.supervise.detached import detached
from appliance.supervise.errors import cannot_run
from appliance.supervise.history import History
from appliance.supervise.history_records import Phase, Revision, text_hash
from appliance.supervise.judge import new_contents, with_room
from appliance.supervise.machine import Machine
from appliance.supervise.proposal import Outcome, Proposal
from appliance.supervise.status import ApplianceStatus, FieldChange, GitStatus
from appliance.supervise.status_file import differences, file_status
from appliance.supervise.status_make import Subject, make_status

Told = Callable[[Phase | str], None]
LASTING_SECONDS = 1.0
"""Between two looks at what whoever asked is waiting for."""


class Supervised(Subject, Protocol):
    def propose(self, proposal: Proposal) -> Awaitable[Outcome]: ...


class AdminHandler:
    """A Handler over a supervisor. Where an agent follows a repository: `git` is its standing, `kept` the text, `again`
    what a request to reload means."""

    def __init__(
        self,
        subject: Supervised,
        git: Callable[[], GitStatus | None] = lambda: None,
        kept: Callable[[], str | None] = lambda: None,
        again: Callable[[Proposal], Proposal] = lambda proposal: proposal,
    ) -> None:
        self._subject, self._git, self._kept, self._again = subject, git, kept, again

    @property
    def history(self) -> History:
        return self._subject.history

    @property
    def running(self) -> Revision | None:
        """With the text that runs, which may be newer than the revision where the plan stayed the same."""
        running = self._subject.running
        if running is None:
            return None
        candidate = running.candidate
        found = self.history.get(running.revision)
        if found is None:
            return Revision(number=running.revision, text=candidate.text, hash=candidate.hash, source="boot")
        return replace(found, text=candidate.text, hash=candidate.hash)

    async def status(self) -> ApplianceStatus:
        running, road = self._subject.running, self._subject.road
        pin, kept, file = self.history.pinned, self._pulled(), None
        above = self._subject.parts.front.overridden
        if running is not None:
            file = await detached(lambda: file_status(road, running.candidate, pin, kept, above))
        name = running.candidate.checked.profile.name if running else self._subject.folder.name
        return make_status(self._subject, name, file, self._git())

    async def reload(self, actor: str, note: str, told: Told) -> Outcome:
        return await self._propose(self._again(Proposal("admin", actor=actor, note=note)), told)

    async def rollback(self, to: Revision, actor: str, note: str, told: Told) -> Outcome:
        running, pin = self.running, self.history.pinned
        left = tried(self.history, running) or running
        away = left.hash if left else ""
        if pin is not None and pin.away == await self._wanted_hash():
            away = pin.away
        why = note or f"to revision {to.number}"
        name = f"revision {to.number}"
        outcome = await self._propose(Proposal("rollback", to.text, actor, why, name=name), told)
        if outcome.good and outcome.revision is not None:
            with self._subject.parts.history_kept():
                self.history.pin(outcome.revision, away if away != to.hash else "", to.number)
        return outcome

    async def _wanted_hash(self) -> str:
        try:
            return text_hash((await self.wanted()).text)
        except ApplianceError:
            return ""

    async def wanted(self) -> Text:
        file = self._subject.road.file
        if pulled := self._pulled():
            return pulled
        try:
            return Text(name=str(file), text=file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            fact = f"cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}"
            raise cannot_run(Position(str(file)), "AP0001", fact, "correct the path or the permissions") from error

    def _pulled(self) -> Text | None:
        """The text that is followed, under the name that diagnostics give it."""
        text, git = self._kept(), self._git()
        return Text(name=f"{git.path} at {git.commit[:7]}", text=text) if text is not None and git else None

    async def plan_against(self, text: str, file: str) -> Planned:
        running, road = self._subject.running, self._subject.road
        if running is None:
            fact = "nothing runs yet: the first boot is under way"
            raise cannot_run(Position(file), "AP0902", fact, "ask again when appliance status says ready")
        checked = await detached(lambda: road.check(text, file, Path(file).parent))
        candidate = await detached(lambda: road.plan(checked, download=False))
        before, after = running.candidate.plan, candidate.plan
        situation = Situation(
            changes=diff_plans(before, after),
            engine=engine_change(before, after),
            contents=new_contents(running.candidate, candidate),
            strategy=after.value("reload.strategy"),
            overridden=self._subject.parts.front.overridden,
        )
        if situation.engine.replace:
            situation = await with_room(running, candidate, situation)
        decision = _decision(situation)
        return Planned(
            action=decision.action,
            changes=tuple(
                _stands(change, situation.overridden) for change in differences(running.candidate, candidate)
            ),
            reasons=decision.reasons,
            findings=checked.findings,
            revision=running.revision,
        )

    async def _propose(self, proposal: Proposal, told: Told) -> Outcome:
        machine = self._subject.machine

        def watch(phase: Phase) -> None:
            """Only of this proposal, or of the one that reads the same file in its stead."""
            if machine and not machine.inbox.waits(proposal):
                told(phase)

        if machine is None:
            return await self._subject.propose(proposal)
        machine.watchers.add(watch)
        lasting = asyncio.create_task(_lasting(machine, proposal, told))
        try:
            return await self._subject.propose(proposal)
        finally:
            lasting.cancel()
            machine.watchers.discard(watch)


async def _lasting(machine: Machine, proposal: Proposal, told: Told) -> None:
    """Tells what goes on, once for everything that lasts."""
    said = ""
    while True:
        await asyncio.sleep(LASTING_SECONDS)
        trying, phases = machine.trying, machine.phases
        if trying is None or phases is None or not phases.now:
            continue
        text = phases.now
        if machine.inbox.waits(proposal):
            text = f"waits for revision {phases.record.revision} ({trying.source}): {text}"
        if text != said:
            said = text
            told(text)


def _stands(change: FieldChange, overridden: frozenset[str]) -> FieldChange:
    """As it is where the command line stands above the profile."""
    why = "the command line stands above it: nothing moves"
    return replace(change, reload="live", why=why) if change.path in overridden else change


def _decision(situation: Situation) -> Decision:
    try:
        return decide(situation)
    except DoesNotFit as error:
        return Decision("surge", reasons=(f"it would be refused: {error}",))
