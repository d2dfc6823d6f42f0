"""Running engines take new settings between two steps: weights, prefix cache and requests stay."""

from appliance.supervise.failed import EngineSaidNo, RolledBack
from appliance.supervise.history_records import Proof
from appliance.supervise.strategies import live
from appliance.supervise.transition import Made, Transition

WORDS = {"log_level", "log_format"}
"""Settings that change no answer: servers have them at once, and nothing is asked."""


async def carry_out(transition: Transition) -> Made:
    """Servers never let in what the engine does not take: they learn first where a context shrinks, else last."""
    generation, before = transition.old, transition.old.plan
    shrinks = transition.candidate.plan.server.max_context < before.server.max_context
    told = False
    try:
        if shrinks or transition.decision.settings.keys() <= WORDS:
            proof = await _servers(transition)
            await _engines(transition)
        else:
            await _engines(transition)
            told = True
            proof = await _servers(transition)
    except ValueError as error:
        await transition.restore(generation)
        raise EngineSaidNo(str(error)) from error
    except Exception as error:
        await transition.restore(generation)
        if told:
            await transition.engines.take_back(generation, before, transition.decision.settings)
        raise RolledBack(error, generation) from error
    return Made(generation, proof)


async def _servers(transition: Transition) -> Proof:
    words = transition.decision.settings.keys() <= WORDS
    proof = await transition.prove(transition.old, not words or live.needs_answers(transition))
    await transition.switch()
    return proof


async def _engines(transition: Transition) -> None:
    settings = transition.decision.settings
    with transition.phase("tell the engine") as step:
        await transition.engines.reconfigure(transition.old, transition.candidate.plan, settings)
        step.detail = ", ".join(f"{name}={value}" for name, value in settings.items())
