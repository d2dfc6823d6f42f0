"""How long a prompt is, asked of vLLM where a limit depends on it."""

from typing import TYPE_CHECKING, Any

import httpx

from appliance.server.errors import bad_request, unavailable
from appliance.server.proxy.checks import asked_output, given_tokens, question_for_tokens
from appliance.server.proxy.routes import Route

if TYPE_CHECKING:
    from appliance.server.proxy.state import ProxyState

SECONDS = 30.0


async def prompt_tokens(state: "ProxyState", route: Route, body: dict[str, Any]) -> list[int]:
    """One number per prompt; empty where no limit needs it, or where what vLLM would count is not text alone."""
    config = state.config
    rejecting = config.max_tokens_overflow == "reject" and asked_output(route, body) is not None
    if not route.work or not (rejecting or config.queue_tokens is not None):
        return []
    if (given := given_tokens(body)) is not None:
        return given
    questions = question_for_tokens({**body, "model": state.adapters.of(body.get("model")) or body.get("model")})
    if questions is None:
        return []
    upstream = state.upstreams.choose(set())
    counts = []
    try:
        for question in questions:
            answer = await upstream.client.post("/tokenize", json=question, timeout=SECONDS)
            if answer.status_code != 200:
                # what is wrong with the request is for its own route to say
                return []
            counts.append(int(answer.json()["count"]))
    except httpx.HTTPError as error:
        raise unavailable(f"the engine does not say how long the prompt is: {error}", retry_after=2) from None
    return counts


async def check_room(state: "ProxyState", route: Route, body: dict[str, Any], tokens: list[int]) -> None:
    """vLLM shortens an output that does not fit; under `overflow: reject` it is refused here. Raises ApiError 400."""
    asked = asked_output(route, body)
    if asked is None or not tokens or state.config.max_tokens_overflow != "reject":
        return
    context = max((int(card.get("max_model_len") or 0) for up in state.upstreams.up for card in up.models), default=0)
    context = context or state.config.max_context
    if context and max(tokens) + asked > context:
        raise bad_request(
            f"max_tokens: {asked} and a prompt of {max(tokens)} tokens pass the context of {context}; "
            "send a shorter prompt or a smaller max_tokens",
            route.output.split()[0],
        )
