"""Running engines take new settings between two steps: weights, prefix cache and requests stay."""

from appliance.supervise.failed import EngineSaidNo, RolledBack
from appliance.supervise.history_records import Proof
from appliance.supervise.transition import Made, Transition


async def carry_out(transition: Transition) -> Made:
    """Servers never let in what the engine does not take: they learn first where a context shrinks, else last."""
    generation, before = transition.old, transition.old.plan
    shrinks = transition.candidate.plan.server.max_context < before.server.max_context
    told = False
    try:
        if shrinks:
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
    proof = await transition.prove(transition.old)
    await transition.switch()
    return proof


async def _engines(transition: Transition) -> None:
    settings = transition.decision.settings
    with transition.phase("tell the engine") as step:
        await transition.engines.reconfigure(transition.old, transition.candidate.plan, settings)
        step.detail = ", ".join(f"{name}={value}" for name, value in settings.items())
