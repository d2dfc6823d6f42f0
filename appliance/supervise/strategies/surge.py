"""The new generation boots beside the old one, which serves until the new one has proven itself and has settled."""

from appliance.supervise.failed import STEPS, RolledBack
from appliance.supervise.generation import Generation
from appliance.supervise.same_model import same_tokenizer
from appliance.supervise.transition import Made, Transition


async def carry_out(transition: Transition) -> Made:
    old = transition.old
    new: Generation | None = None
    try:
        new = await transition.boot()
        proof = await transition.prove(new)
        await transition.switch()
        await transition.settle(new)
    except STEPS as error:
        settling = transition.switched
        await transition.restore(old)
        if new is not None:
            await transition.engines.stop(new)
        raise RolledBack(error, old, settling) from error
    same = bool(new.fingerprint) and new.fingerprint == old.fingerprint
    paths = transition.running.candidate.source.path, transition.candidate.source.path
    return Made(new, proof, retiring=old, carry=same and same_tokenizer(*paths))
