"""What a step's output means for a request: its tokens, its end, the update that tells the server."""

from appliance.engine.core.request import RequestState
from appliance.engine.core.types import ScheduledRequest, StepOutput
from appliance.engine.protocol import FinishReason, TokenLogprobs, Update


def advance(state: RequestState, share: ScheduledRequest, output: StepOutput, now: float) -> Update | None:
    """Accounts one share. None where it produced no token.

    An output may hold several tokens; those behind the one that ends the request are dropped.
    """
    state.num_computed += share.num_tokens
    assert state.num_computed <= len(state.token_ids)
    assert bool(output.token_ids) == share.samples, "a token too few or too many"
    if output.prompt_logprobs and not state.reads_cache:
        wanted = state.prompt_length - 1 - len(state.prompt_logprobs)
        state.prompt_logprobs.extend(output.prompt_logprobs[:wanted])
    if not output.token_ids:
        return None
    kept, reason, stop_token_id = _take(state, output.token_ids)
    first = not state.reported
    if first:
        state.first_token_at = now
    update = Update(
        request_id=state.request_id,
        token_ids=output.token_ids[:kept],
        logprobs=output.logprobs[:kept] if output.logprobs is not None else None,
        prompt_logprobs=_prompt_report(state),
        finish_reason=reason,
        stop_token_id=stop_token_id,
        cached_tokens=state.cached_tokens if first else 0,
        preemptions=state.preemptions,
        scheduled_at=state.scheduled_at if first else 0.0,
        first_token_at=state.first_token_at if first else 0.0,
    )
    state.reported = True
    return update


def _take(state: RequestState, token_ids: list[int]) -> tuple[int, FinishReason | None, int | None]:
    """(tokens taken, why the request ends, the stop token that ended it)."""
    sampling = state.sampling
    for kept, token in enumerate(token_ids, 1):
        state.token_ids.append(token)
        generated = state.num_generated
        if generated >= sampling.min_tokens:
            if token in state.eos_ids:
                return kept, "stop", None
            if token in state.stop_ids:
                return kept, "stop", token
        if generated >= sampling.max_tokens or len(state.token_ids) >= state.max_total:
            return kept, "length", None
    return len(token_ids), None, None


def _prompt_report(state: RequestState) -> list[TokenLogprobs | None] | None:
    if state.reads_cache:
        return None
    assert len(state.prompt_logprobs) == state.prompt_length - 1, "prompt log-probabilities are missing"
    report = [None, *state.prompt_logprobs]
    state.prompt_logprobs = []
    return report
