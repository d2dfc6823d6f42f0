"""One step on tensors: slots -> batch -> model -> logits -> tokens."""

import torch

from appliance.engine.config import EngineConfig
from appliance.engine.core.types import AdapterFacts, ScheduledRequest, StepOutput
from appliance.engine.layers.linear import padded_rows
from appliance.engine.lora.resident import ResidentAdapters
from appliance.engine.models.base import Model
from appliance.engine.protocol import TokenLogprobs
from appliance.engine.runner.attention import choose_attention
from appliance.engine.runner.batch import Batch
from appliance.engine.runner.build_batch import build_batch
from appliance.engine.runner.kv_pool import KVPool
from appliance.engine.runner.slots import Slot
from appliance.engine.sampling.logprobs import Wanted, token_logprobs, wanted_of
from appliance.engine.sampling.sampler import sample
from appliance.kernels.kv import kv_format


class PagedRunner:
    """Owns the KV pool and the slots; knows nothing of queues and clients."""

    def __init__(self, config: EngineConfig, model: Model) -> None:
        shape = model.config
        self.model = model
        self._dtype: torch.dtype = getattr(torch, config.dtype)
        self._slots: dict[int, Slot] = {}
        self._pool = KVPool(
            kv_format(config.kv_dtype),
            shape.num_layers,
            config.num_blocks,
            config.block_tokens,
            shape.num_kv_heads,
            shape.head_dim,
        )
        self._attention = choose_attention(self._pool, self._dtype, shape.num_heads, model.ops)
        self._adapters = ResidentAdapters(model.parameters.parts, shape.num_layers, self._dtype)

    @torch.inference_mode()
    def step(self, scheduled: list[ScheduledRequest]) -> list[StepOutput]:
        for request in scheduled:
            if request.start is not None:
                self._slots[request.slot] = Slot.fill(request.start)
        batch = build_batch(scheduled, self._slots, self._pool.block_tokens, self._dtype)
        context = self._attention(batch)
        wanted, rows = len(batch.sample_rows), _rows(batch, self._dtype)
        keys = [self._slots[request.slot].adapter for request in scheduled]
        self._adapters.rows.begin(keys, batch.query_starts, len(batch.input_ids), rows)
        hidden = self.model.forward(batch.input_ids, batch.positions, context, rows)
        if not wanted:
            return [StepOutput(request.slot) for request in scheduled]
        return self._outputs(scheduled, batch, self.model.logits(hidden)[:wanted])

    def free(self, slot: int) -> None:
        self._slots.pop(slot, None)

    def load_adapter(self, key: int, folder: str) -> AdapterFacts:
        return self._adapters.load(key, folder)

    def unload_adapter(self, key: int) -> None:
        self._adapters.unload(key)

    def _outputs(self, scheduled: list[ScheduledRequest], batch: Batch, logits: torch.Tensor) -> list[StepOutput]:
        rows_of_share = _split_rows(batch)
        sampling = [index for index, request in enumerate(scheduled) if request.samples]
        slots = [self._slots[scheduled[index].slot] for index in sampling]
        last_rows = [rows_of_share[index].stop - 1 for index in sampling]
        own = logits if last_rows == list(range(len(logits))) else logits[last_rows]
        chosen = sample(own, slots, self.model.config.eos_token_ids)
        reports = _reports(own, chosen, slots)
        tokens = dict(zip(sampling, zip(chosen, reports, strict=True), strict=True))
        outputs = []
        for index, request in enumerate(scheduled):
            slot = self._slots[request.slot]
            prompt = _prompt_logprobs(request, slot, logits[rows_of_share[index]])
            if index not in tokens:
                outputs.append(StepOutput(request.slot, prompt_logprobs=prompt))
                continue
            token, report = tokens[index]
            slot.append(token)
            outputs.append(StepOutput(request.slot, [token], [report] if report else None, prompt))
        return outputs


def _rows(batch: Batch, dtype: torch.dtype) -> torch.Tensor | None:
    """Rows the last layer is to finish: those that are sampled, first; None = all of them, in order."""
    wanted = batch.sample_rows
    if len(wanted) == batch.query_starts[-1]:
        return None
    missing = padded_rows(dtype, len(wanted)) - len(wanted)
    last = wanted[-1:] if len(wanted) else torch.zeros(1, dtype=torch.int64)
    return torch.cat((wanted, last.expand(missing))) if missing else wanted


def _split_rows(batch: Batch) -> list[slice]:
    """Which rows of the logits belong to each share; they lie in the order of the schedule."""
    starts = torch.searchsorted(batch.sample_rows, torch.tensor(batch.query_starts)).tolist()
    return [slice(starts[index], starts[index + 1]) for index in range(len(starts) - 1)]


def _reports(logits: torch.Tensor, chosen: list[int], slots: list[Slot]) -> list[TokenLogprobs | None]:
    """The log-probabilities of the rows whose requests asked for them, all in one go."""
    reports: list[TokenLogprobs | None] = [None] * len(slots)
    wishes = [(row, wish) for row, slot in enumerate(slots) if (wish := wanted_of(slot.sampling)) is not None]
    rows = [row for row, _ in wishes]
    asked = logits if len(rows) == len(slots) else logits[rows]
    made = token_logprobs(asked, [chosen[row] for row in rows], [wish for _, wish in wishes])
    for row, report in zip(rows, made, strict=True):
        reports[row] = report
    return reports


def _prompt_logprobs(request: ScheduledRequest, slot: Slot, logits: torch.Tensor) -> list[TokenLogprobs] | None:
    top = slot.sampling.prompt_logprobs
    if top is None or request.num_computed >= slot.prompt_length:
        return None
    first = request.num_computed + 1
    following = slot.token_ids[first : min(first + request.num_tokens, slot.prompt_length)]
    return token_logprobs(logits[: len(following)], following, [Wanted(top)] * len(following))
