"""The reload state machine: takes proposals one after the other and brings the appliance from state to state."""

import asyncio
import contextlib
import dataclasses
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from appliance.diagnostics import ApplianceError, Diagnostic, Position
from appliance.server.config import ReloadFacts, Sync
from appliance.supervise import findings
from appliance.supervise.decide import DoesNotFit, insist
from appliance.supervise.detached import detached
from appliance.supervise.failed import STEPS, EngineSaidNo, Lost, Overtaken, RolledBack
from appliance.supervise.history_records import Phase
from appliance.supervise.inbox import Inbox, Ticket
from appliance.supervise.judge import Judged, judge, with_room
from appliance.supervise.outcomes import error_text, facts_after
from appliance.supervise.overtaking import newer
from appliance.supervise.parts import Parts
from appliance.supervise.phases import Phases
from appliance.supervise.pinning import end_pin, leaves, rolled_back_from
from appliance.supervise.proposal import Outcome, Proposal, Result
from appliance.supervise.record import Record
from appliance.supervise.retiring import Retiring
from appliance.supervise.road import Checked, InvalidText
from appliance.supervise.strategies import strategy
from appliance.supervise.transition import Made, Running, Transition

MOST_OVERTAKEN = 20
"""Proposals in a row that are given up for a newer one; a storm without end does not keep a state from being tried."""


@dataclass
class Machine:
    parts: Parts
    running: Running
    facts: ReloadFacts
    on_outcome: Callable[[Proposal, Outcome], None]
    on_reading: Callable[[], None]
    """Called before the profile's file is read."""
    kept: Callable[[], str | None]
    """The text of a followed repository, which stands in for the file."""
    inbox: Inbox = field(default_factory=Inbox)
    phases: Phases | None = None
    """Of the revision that is tried now."""
    trying: Proposal | None = None
    lost: ApplianceError | None = None
    """Nothing serves any more."""
    watchers: set[Callable[[Phase], None]] = field(default_factory=set)
    """Told each phase as it ends."""
    _overtaken: int = 0

    def __post_init__(self) -> None:
        self.retiring = Retiring(self.parts)

    async def propose(self, proposal: Proposal) -> Outcome:
        """Waits until it has been tried, or overtaken."""
        return await self.inbox.put(proposal).outcome

    async def follows(self, git: Sync | None) -> None:
        """How what runs stands to a followed repository, for the metrics: that can change without a proposal."""
        if git != self.facts.git:
            self.facts = dataclasses.replace(self.facts, git=git)
            await self.parts.servers.tell(self.facts)

    async def run(self) -> None:
        """Until cancelled. ApplianceError AP0611 when nothing serves any more."""
        while True:
            newest, same, overtaken = await self.inbox.take()
            for ticket in overtaken:
                ticket.settle(self._superseded(ticket))
            outcome = await self._try(newest)
            for ticket in (newest, *same):
                ticket.settle(outcome)
            if self.lost is not None:
                raise self.lost

    async def _try(self, ticket: Ticket) -> Outcome:
        proposal, parts = ticket.proposal, self.parts
        begun = time.monotonic()
        text = self.running.candidate.text if proposal.source == "secret" else proposal.text
        base = self.running.candidate.checked.base if proposal.source == "secret" else proposal.base
        if text is None:
            self.on_reading()
        checked: Checked | None = None
        error: Exception | None = None
        try:
            checked = await detached(lambda: parts.road.check(text, proposal.name, base))
            text = checked.document.text
        except InvalidText as found:
            error, text = found, found.text
        except Exception as defect:
            error, text = defect, text or ""
        if pinned := rolled_back_from(parts, proposal, text, self.running.revision):
            return Outcome("superseded", None, self.running.generation.number, diagnostics=(pinned,))
        record = Record(parts.history, parts.history_refused)
        revision = record.begin(proposal, text, self.running.candidate.hash)
        self.trying, self.phases = proposal, Phases(parts.report, record, watchers=self.watchers)
        parts.report.trying(revision, proposal)
        self.phases.add("validate", time.monotonic() - begun)
        try:
            if isinstance(error, InvalidText):
                outcome, plan = self._refused("invalid", revision, error), ""
            elif error is not None:
                outcome, plan = self._defect(error, Position(str(parts.road.file)), revision), ""
            else:
                assert checked is not None
                outcome, plan = await self._judge_and_act(checked, revision)
            record.finish(outcome, dict(outcome.proof), error_text(outcome), plan)
            end_pin(parts, proposal, text, outcome)
            await self._ended(proposal, outcome, time.monotonic() - begun)
        finally:
            self.trying = None
        return outcome

    async def _judge_and_act(self, checked: Checked, revision: int) -> tuple[Outcome, str]:
        assert self.phases is not None
        try:
            judged = await judge(self.parts, self.running, checked, revision, self.phases)
        except ApplianceError as error:
            return self._refused("rejected", revision, error), ""
        except Exception as error:
            return self._defect(error, checked.position(""), revision), ""
        plan = judged.candidate.plan.hash
        if judged.decision.action == "none":
            self.running = dataclasses.replace(self.running, candidate=judged.candidate)
            return self._outcome("unchanged", revision, judged), plan
        if self.inbox.overtaken and self._overtaken < MOST_OVERTAKEN:
            self._overtaken += 1
            return self._outcome("superseded", revision, judged), plan
        outcome = await self._act(judged, revision)
        self._overtaken = self._overtaken + 1 if outcome.result == "superseded" else 0
        return outcome, plan

    async def _act(self, judged: Judged, revision: int) -> Outcome:
        """Carries the decision out. Afterwards `running` is the new state, or the old one as it was."""
        candidate, checked = judged.candidate, judged.candidate.checked
        self.parts.report.decided(judged.changes, judged.decision)
        try:
            if judged.decision.listener:
                self.parts.front.ask(self.running.candidate.plan, candidate.plan, checked.position)
            made, judged = await self._carry_out(judged, revision)
        except ApplianceError as error:
            await self.parts.front.stay(self.parts.servers)
            return self._refused("rejected", revision, error, judged)
        except RolledBack as error:
            self.running = dataclasses.replace(self.running, generation=error.generation)
            if error.retiring is not None:
                self.retiring.begin(error.retiring, candidate.plan.server.drain_seconds, error.carry)
            if isinstance(error.__cause__, Overtaken):
                return self._outcome("superseded", revision, judged)
            if error.__cause__ is not None and not isinstance(error.__cause__, STEPS):
                return self._defect(error.__cause__, checked.position(""), revision, judged)
            number = error.generation.number
            found = findings.rolled_back(checked, judged.changes, str(error), number, error.settling)
            return self._outcome("failed", revision, judged, (found,))
        except Lost as error:
            found = findings.lost(checked.position(""), str(error.__context__), str(error))
            self.lost = findings.refusal(found)
            return self._outcome("failed", revision, judged, (found,))
        drain = candidate.plan.server.drain_seconds
        self.running = Running(candidate, made.generation, revision)
        self.parts.front.leave(drain)
        if made.retiring is not None:
            self.retiring.begin(made.retiring, max(0.0, drain - self.parts.settle_seconds), made.carry)
        return self._outcome("applied", revision, judged, proof=tuple(made.proof.items()))

    async def _carry_out(self, judged: Judged, revision: int) -> tuple[Made, Judged]:
        if judged.decision.action in ("surge", "drain"):
            await self.retiring.done()
        transition = self._transition(judged, revision)
        try:
            return await strategy(judged.decision.action).carry_out(transition), judged
        except EngineSaidNo as error:
            situation = await with_room(self.running, judged.candidate, judged.situation)
            try:
                decision = insist(judged.decision, situation, str(error))
            except DoesNotFit as refusal:
                raise findings.refusal(findings.no_room(judged.candidate.checked, str(refusal))) from refusal
            judged = Judged(judged.candidate, situation, decision)
            self.parts.report.decided((), decision)
            if decision.listener:  # given back when the engine refused
                before, after = self.running.candidate.plan, judged.candidate.plan
                self.parts.front.ask(before, after, judged.candidate.checked.position)
            await self.retiring.done()
            transition = self._transition(judged, revision)
            return await strategy(decision.action).carry_out(transition), judged

    def _transition(self, judged: Judged, revision: int) -> Transition:
        parts = self.parts
        assert self.phases is not None
        return Transition(
            running=self.running,
            candidate=judged.candidate,
            decision=judged.decision,
            revision=revision,
            engines=parts.engines,
            servers=parts.servers,
            front=parts.front,
            crew=parts.crew,
            phases=self.phases,
            facts=self.facts,
            policy=parts.policy,
            overtaken=lambda: self._newer(judged),
            settle_seconds=parts.settle_seconds,
        )

    async def _newer(self, tried: Judged) -> None:
        if self._overtaken >= MOST_OVERTAKEN:
            await asyncio.Event().wait()
        await newer(self.inbox, self.parts, tried)

    def _superseded(self, ticket: Ticket) -> Outcome:
        proposal = ticket.proposal
        outcome = Outcome("superseded", None, self.running.generation.number)
        if proposal.text is None:
            return outcome
        record = Record(self.parts.history, self.parts.history_refused)
        revision = record.begin(proposal, proposal.text, self.running.candidate.hash)
        outcome = dataclasses.replace(outcome, revision=revision)
        record.finish(outcome, {}, "a newer state was proposed before its turn", "")
        return outcome

    def _refused(self, result: Result, revision: int, error: ApplianceError, judged: Judged | None = None) -> Outcome:
        return self._outcome(result, revision, judged, tuple(error.diagnostics))

    def _defect(self, error: BaseException, position: Position, revision: int, judged: Judged | None = None) -> Outcome:
        self.parts.report.note("".join(traceback.format_exception(error)).rstrip(), "error")
        return self._refused("failed", revision, findings.refusal(findings.defect(position, error)), judged)

    def _outcome(
        self,
        result: Result,
        revision: int,
        judged: Judged | None = None,
        diagnostics: tuple[Diagnostic, ...] = (),
        proof: tuple[tuple[str, str | float | int | bool], ...] = (),
    ) -> Outcome:
        assert self.phases is not None
        warnings = judged.candidate.checked.findings if judged else ()
        return Outcome(
            result=result,
            revision=revision,
            generation=self.running.generation.number,
            action=judged.decision.action if judged else "none",
            changes=judged.changes if judged else (),
            reasons=judged.decision.reasons if judged else (),
            diagnostics=(*warnings, *diagnostics),
            proof=proof,
            phases=tuple(self.phases.ended),
        )

    async def _ended(self, proposal: Proposal, outcome: Outcome, seconds: float) -> None:
        if outcome.result != "superseded" and self.lost is None:
            rolled = proposal.source == "rollback" and outcome.good
            left = rolled and await leaves(self.parts, self.running, self.kept())
            self.facts = facts_after(self.facts, proposal, outcome, left)
            with contextlib.suppress(*STEPS):
                await self.parts.servers.tell(self.facts)
        self.parts.report.ended(outcome, seconds)
        self.on_outcome(proposal, outcome)
