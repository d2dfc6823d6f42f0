"""New settings of the servers; no engine is touched."""

from appliance.supervise.failed import STEPS, RolledBack
from appliance.supervise.transition import Made, Transition


async def carry_out(transition: Transition) -> Made:
    generation = transition.old
    try:
        proof = await transition.prove(generation)
        await transition.switch()
    except STEPS as error:
        await transition.restore(generation)
        raise RolledBack(error, generation) from error
    generation.plan = transition.candidate.plan
    return Made(generation, proof)
