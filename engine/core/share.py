"""A plan in the runner's words."""

from appliance.engine.core.request import RequestState
from appliance.engine.core.scheduler import Plan
from appliance.engine.core.types import ScheduledRequest, SlotStart


def share_out(plan: Plan, now: float) -> tuple[list[RequestState], list[ScheduledRequest]]:
    """Decodes first. `now` is when requests that begin were scheduled."""
    decodes: list[tuple[RequestState, ScheduledRequest]] = []
    prefills: list[tuple[RequestState, ScheduledRequest]] = []
    for state, tokens in plan.items():
        samples = tokens == len(state.token_ids) - state.num_computed
        share = ScheduledRequest(
            slot=state.slot,
            num_computed=state.num_computed,
            num_tokens=tokens,
            block_table=state.block_table,
            samples=samples,
            start=_start(state, now) if state.needs_start else None,
            copy_from=state.copy_from,
        )
        state.copy_from = -1
        (decodes if samples and tokens == 1 else prefills).append((state, share))
    pairs = decodes + prefills
    return [state for state, _ in pairs], [share for _, share in pairs]


def _start(state: RequestState, now: float) -> SlotStart:
    state.needs_start = False
    if not state.scheduled_at:
        state.scheduled_at = now
    return SlotStart(
        request_id=state.request_id,
        token_ids=list(state.token_ids),
        prompt_length=state.prompt_length,
        sampling=state.wanted_sampling,
        fallback_seed=state.fallback_seed,
        adapter=state.adapter,
    )
