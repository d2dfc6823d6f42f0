"""From a checked text to a decision: plan, differences, room. Nothing has changed when this raises."""

from dataclasses import dataclass, replace

from appliance.plan import diff_plans, probe
from appliance.plan.diff import Change
from appliance.supervise import findings
from appliance.supervise.backends import engine_change
from appliance.supervise.decide import Decision, DoesNotFit, Situation, decide
from appliance.supervise.detached import detached
from appliance.supervise.parts import Parts
from appliance.supervise.phases import Phases
from appliance.supervise.road import Candidate, Checked
from appliance.supervise.room import own_memory, room
from appliance.supervise.transition import Running


@dataclass(frozen=True)
class Judged:
    candidate: Candidate
    situation: Situation
    decision: Decision

    @property
    def changes(self) -> tuple[Change, ...]:
        return self.situation.changes


async def judge(parts: Parts, running: Running, checked: Checked, revision: int, phases: Phases) -> Judged:
    """ApplianceError where the state cannot be on this machine, or not in the way that the profile insists on."""
    if parts.folder.gone:
        raise findings.refusal(findings.no_place(checked))
    candidate = await detached(lambda: parts.road.plan(checked, revision))
    for name, seconds in candidate.seconds.items():
        phases.add(name, seconds)
    before, after = running.candidate.plan, candidate.plan
    engine = engine_change(before, after)
    situation = Situation(
        changes=diff_plans(before, after),
        engine=engine,
        contents=new_contents(running.candidate, candidate),
        strategy=after.value("reload.strategy"),
        overridden=parts.front.overridden,
    )
    if engine.replace:
        situation = await with_room(running, candidate, situation)
    try:
        return Judged(candidate, situation, decide(situation))
    except DoesNotFit as error:
        raise findings.refusal(findings.no_room(checked, str(error))) from error


async def with_room(running: Running, candidate: Candidate, situation: Situation) -> Situation:
    """Looks at the memory that is free now."""
    before, after = running.candidate.plan, candidate.plan
    found = await detached(lambda: room(before, after, probe(), own_memory()))
    return replace(situation, room=found)


def new_contents(before: Candidate, after: Candidate) -> tuple[str, ...]:
    """Fields that name the same file as before, which holds something else now."""
    return tuple(
        path for path, digest in after.contents.items() if path in before.contents and before.contents[path] != digest
    )
