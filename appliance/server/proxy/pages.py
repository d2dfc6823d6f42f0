"""What this server answers itself: whether it lives and serves, its models, its version, the numbers of all."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import httpx
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

from appliance import __version__
from appliance.server.errors import ApiError, json_response
from appliance.server.proxy.numbers import merged, own_numbers

if TYPE_CHECKING:
    from appliance.server.proxy.state import ProxyState
    from appliance.server.proxy.upstream import Upstream

STARTED = int(time.time())
SCRAPE_SECONDS = 5.0


async def health(state: "ProxyState", request: Request) -> Response:
    was_up = any(member.boots for member in state.upstreams.members)
    gate = state.shared.gate
    alive = bool(state.upstreams.up) or not was_up or (gate.closed and not gate.overdue)
    reason = "vLLM runs" if state.upstreams.up else state.upstreams.reason
    return json_response({"alive": alive, "reason": reason}, 200 if alive else 503)


async def ready(state: "ProxyState", request: Request) -> Response:
    gate, reason = state.shared.gate, state.readiness.reason
    if not state.upstreams.up and (not gate.closed or gate.overdue):
        reason = reason or state.upstreams.reason
    if state.shared.draining:
        reason = "the server is shutting down"
    answer = {
        "ready": not reason,
        "reason": reason,
        "held": gate.waiting if gate.closed else None,
        "checks": {name: asdict(check) for name, check in state.readiness.checks.items()},
        "profile": state.config.profile_name,
        "generation": state.config.generation,
    }
    return json_response(answer, 503 if reason else 200, {"Retry-After": "2"} if reason else None)


async def version(state: "ProxyState", request: Request) -> Response:
    return json_response({"version": __version__, "release": state.config.release, "backend": "vllm"})


def cards(state: "ProxyState") -> list[dict[str, Any]]:
    """vLLM's own, and this state's adapters; folders of this machine are nobody's business."""
    names = state.config.served_names
    adapters = {own: name for name, own in state.adapters.resident.items()}
    found = next((member.models for member in state.upstreams.up if member.models), None)
    given = found or [{"id": name, "max_model_len": state.config.max_context or None} for name in names]
    return [
        {
            "id": adapters.get(card["id"], card["id"]),
            "object": "model",
            "created": STARTED,
            "owned_by": "appliance",
            "root": names[0],
            "parent": names[0] if card.get("parent") else None,
            "max_model_len": card.get("max_model_len"),
        }
        for card in given
        if not card.get("parent") or card["id"] in adapters
    ]


async def models(state: "ProxyState", request: Request) -> Response:
    return json_response({"object": "list", "data": cards(state)})


async def model(state: "ProxyState", request: Request) -> Response:
    wanted = request.path_params["model"]
    found = next((card for card in cards(state) if card["id"] == wanted), None)
    if found is None:
        offered = ", ".join(card["id"] for card in cards(state))
        raise ApiError(404, f'the model "{wanted[:120]}" does not exist; this server has: {offered}', "model")
    return json_response(found)


async def metrics(state: "ProxyState", request: Request) -> Response:
    members = state.upstreams.members
    texts = await asyncio.gather(*(_scrape(member) for member in members))
    ours = state.shared.metrics.render().decode() + own_numbers(members)
    for name, own in state.adapters.resident.items():
        texts = [text.replace(own, name) for text in texts]
    text = await asyncio.to_thread(merged, ours, texts)
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})


async def _scrape(member: "Upstream") -> str:
    """Empty where it does not answer: `appliance_engine_up` says so."""
    if not member.up:
        return ""
    try:
        return (await member.client.get("/metrics", timeout=SCRAPE_SECONDS)).text
    except httpx.HTTPError:
        return ""


PAGES: dict[str, Callable[["ProxyState", Request], Awaitable[Response]]] = {
    "health": health,
    "ready": ready,
    "metrics": metrics,
    "version": version,
    "models": models,
    "model": model,
}
