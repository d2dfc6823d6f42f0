"""The new generation boots beside the old one, which serves until the new one has proven itself and has settled."""

from appliance.supervise.failed import RolledBack
from appliance.supervise.generation import Generation
from appliance.supervise.same_model import same_tokenizer
from appliance.supervise.transition import Made, Transition


async def carry_out(transition: Transition) -> Made:
    old = transition.old
    new: Generation | None = None
    carry = False
    try:
        new = await transition.boot()
        proof = await transition.prove(new)
        carry = _same(transition, new)
        await transition.stand_by(carry)
        await transition.switch()
        await transition.settle(new)
    except Exception as error:
        settling = transition.switched
        await transition.restore(old)
        left = new if settling and new is not None and transition.serves(new) else None
        if new is not None and left is None:
            await transition.engines.stop(new)
        raise RolledBack(error, old, settling, left, carry) from error
    return Made(new, proof, retiring=old, carry=carry)


def _same(transition: Transition, new: Generation) -> bool:
    """What one generation was answering can go on on the other."""
    weights = bool(new.fingerprint) and new.fingerprint == transition.old.fingerprint
    return weights and same_tokenizer(transition.running.candidate.source.path, transition.candidate.source.path)
