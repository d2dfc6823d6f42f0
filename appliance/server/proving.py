"""A state on engines of our own is tried before it serves: its engines, and real requests through its own routes."""

import asyncio

from starlette.types import ASGIApp

from appliance.engine.protocol import Ready
from appliance.server import proofs
from appliance.server.context import Context
from appliance.server.pool import Replica
from appliance.server.states import Proof, StateError


async def prove(context: Context, app: ASGIApp, proven: tuple[str, ...], seconds: float, probe: bool) -> Proof:
    """`proven` are the engine boots that the current state has tried. Raises StateError."""
    engines = context.engines
    stage = ["the engine"]
    try:
        async with asyncio.timeout(seconds):
            boots = [await replica.client.wait_ready() for replica in engines.replicas]
            proof = _engines(context, boots)
            await context.adapters.bring(engines.replicas)
            if probe:
                for replica, told in await _requests(context, app, proven, seconds, stage):
                    number = engines.replicas.index(replica)
                    proof |= {f"{name}[{number}]" if number else name: detail for name, detail in told.items()}
                stage[0] = "an endpoint that is required"
                await context.readiness.probe(context, proofs.switches(context.config))
                if not context.readiness.ready:
                    raise StateError(context.readiness.reason)
            return proof
    except TimeoutError:
        missing = f" ({engines.reason})" if len(engines.open) < len(engines.replicas) else ""
        raise StateError(f"no answer from {stage[0]} within {round(seconds, 1):g} s{missing}") from None


def _engines(context: Context, boots: list[Ready]) -> Proof:
    fingerprints = list(dict.fromkeys(boot.weights_fingerprint for boot in boots))
    if len(fingerprints) > 1:
        raise StateError(f"the replicas serve different weights: {', '.join(fingerprints)}")
    room, wanted = min(boot.max_context for boot in boots), context.config.max_context
    if room < wanted:
        raise StateError(f"the engine's context holds {room} tokens, {wanted} are to be served")
    return {"weights": fingerprints[0], "replicas": len(boots)}


async def _requests(
    context: Context, app: ASGIApp, proven: tuple[str, ...], seconds: float, stage: list[str]
) -> list[tuple[Replica, dict[str, str]]]:
    """On every replica that is new; where none is, what can fail is the way there, and one tells that."""
    engines = context.engines
    lacking = {} if context.tokenizer.chat_template else {"chat": "the model has no chat template"}
    new = [one for one in engines.replicas if one.client.ready and one.client.ready.instance not in proven]
    told = []
    for replica in new or engines.replicas[:1]:
        engines.pinned = replica
        try:
            told.append((replica, await proofs.run(app, context.config, lacking, seconds, stage, at_once=4)))
        finally:
            engines.pinned = None
    return told
