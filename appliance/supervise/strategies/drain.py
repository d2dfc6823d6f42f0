"""The new generation takes the place of the old one: new requests wait, and those that ran go on on the new one."""

import contextlib

from appliance.supervise.failed import STEPS, Lost, RolledBack
from appliance.supervise.generation import Generation
from appliance.supervise.transition import Made, Transition

CARRY_AFTER_SECONDS = 2.0
"""Short requests finish by themselves; longer ones are computed again on the new generation rather than waited for."""


async def carry_out(transition: Transition) -> Made:
    old, servers = transition.old, transition.servers
    new: Generation | None = None
    carry = _same_files(transition)
    finish = min(transition.drain_seconds, CARRY_AFTER_SECONDS) if carry else transition.drain_seconds
    queue = transition.candidate.plan.server.queue_requests
    hold = queue, finish + transition.longest_hold
    gone = False
    try:
        await transition.front.left()
        await servers.hold(*hold)
        with transition.phase(f"empty generation {old.number}") as step:
            answer = await servers.retire(old.addresses, finish, carry)
            step.detail = f"{answer.finished} finished, {answer.carried} carried over, {answer.cut} cut"
        gone = True
        await transition.engines.stop(old)
        new = await transition.boot()
        if carry and new.fingerprint != old.fingerprint:
            said = "the model's files have changed under their name: what is carried over goes on with other weights"
            transition.phases.report.note(said, "warning")
        proof = await transition.prove(new)
        await transition.stand_by(carry and new.fingerprint == old.fingerprint)
        await transition.switch()
        await transition.settle(new)
    except Exception as error:
        settling = transition.switched
        with contextlib.suppress(*STEPS):
            await servers.hold(*hold)
        if new is not None:
            if settling and transition.serves(new):
                with contextlib.suppress(*STEPS):
                    await servers.retire(new.addresses, finish, carry and new.fingerprint == old.fingerprint)
            await transition.engines.stop(new)
        back = await _boot_again(transition) if gone else old
        await transition.restore(back)
        raise RolledBack(error, back, settling) from error
    return Made(new, proof)


async def _boot_again(transition: Transition) -> Generation:
    """The old plan, under the old number and addresses, which servers still know."""
    old = transition.old
    generation = transition.engines.make(old.plan, old.number)
    with transition.phase(f"boot generation {old.number} again"):
        try:
            await transition.engines.ready(generation)
        except STEPS as error:
            raise Lost(str(error)) from error
    transition.crew.rely(generation.keepers, transition.policy)
    return generation


def _same_files(transition: Transition) -> bool:
    """Known before the new engine is: the same model, whatever else changes, on a backend that carries."""
    before, after = transition.running.candidate, transition.candidate
    return (
        after.source.path == before.source.path
        and after.plan.server.chat_template == before.plan.server.chat_template
        and {before.plan.server.backend, after.plan.server.backend} == {"native"}
    )
