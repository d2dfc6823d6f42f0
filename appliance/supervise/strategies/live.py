"""New settings of the servers; no engine is touched.

Real requests are asked only where answers could fail that did not fail before: they wait in the running engine's queue.
"""

from appliance.server.config import ServerConfig
from appliance.supervise.failed import RolledBack
from appliance.supervise.transition import Made, Transition


async def carry_out(transition: Transition) -> Made:
    generation = transition.old
    try:
        proof = await transition.prove(generation, needs_answers(transition))
        await transition.switch()
    except Exception as error:
        await transition.restore(generation)
        raise RolledBack(error, generation) from error
    generation.plan = transition.candidate.plan
    return Made(generation, proof)


def needs_answers(transition: Transition) -> bool:
    before, after = transition.running.candidate.plan.server, transition.candidate.plan.server
    return transition.decision.listener or _answers(before) != _answers(after)


def _answers(config: ServerConfig) -> tuple[object, ...]:
    """What decides whether requests can be answered at all."""
    return config.endpoints, config.chat_template, config.adapters
