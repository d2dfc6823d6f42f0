"""One step on tensors: slots -> batch -> model -> logits -> tokens."""

import torch

from appliance.engine.config import EngineConfig
from appliance.engine.core.types import ScheduledRequest, StepOutput
from appliance.engine.models.base import Model
from appliance.engine.protocol import TokenLogprobs
from appliance.engine.runner.batch import Batch
from appliance.engine.runner.build_batch import build_batch
from appliance.engine.runner.kv_pool import KVPool
from appliance.engine.runner.paged_attention import PagedAttention
from appliance.engine.runner.slots import Slot
from appliance.engine.sampling.logprobs import token_logprobs, wants_logprobs
from appliance.engine.sampling.sampler import sample
from appliance.kernels.kv import kv_format


class PagedRunner:
    """Owns the KV pool and the slots; knows nothing of queues and clients."""

    def __init__(self, config: EngineConfig, model: Model) -> None:
        shape = model.config
        self._model = model
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

    @torch.inference_mode()
    def step(self, scheduled: list[ScheduledRequest]) -> list[StepOutput]:
        for request in scheduled:
            if request.start is not None:
                self._slots[request.slot] = Slot.fill(request.start)
        batch = build_batch(scheduled, self._slots, self._pool.block_tokens)
        context = PagedAttention(self._pool, batch, self._dtype)
        hidden = self._model.forward(batch.input_ids, batch.positions, context)
        if not len(batch.sample_rows):
            return [StepOutput(request.slot) for request in scheduled]
        wanted = hidden if len(batch.sample_rows) == len(hidden) else hidden[batch.sample_rows]
        return self._outputs(scheduled, batch, self._model.logits(wanted))

    def free(self, slot: int) -> None:
        self._slots.pop(slot, None)

    def _outputs(self, scheduled: list[ScheduledRequest], batch: Batch, logits: torch.Tensor) -> list[StepOutput]:
        rows_of_share = self._split_rows(scheduled, batch)
        sampling = [index for index, request in enumerate(scheduled) if request.samples]
        slots = [self._slots[scheduled[index].slot] for index in sampling]
        last_rows = [rows_of_share[index].stop - 1 for index in sampling]
        own = logits if last_rows == list(range(len(logits))) else logits[last_rows]
        tokens = dict(zip(sampling, sample(own, slots, self._model.config.eos_token_ids), strict=True))
        outputs = []
        for index, request in enumerate(scheduled):
            slot = self._slots[request.slot]
            rows = rows_of_share[index]
            prompt = self._prompt_logprobs(request, slot, logits[rows])
            if index not in tokens:
                outputs.append(StepOutput(request.slot, prompt_logprobs=prompt))
                continue
            token = tokens[index]
            reported = None
            if wants_logprobs(slot.sampling):
                asked = slot.sampling
                reported = token_logprobs(
                    logits[rows.stop - 1 : rows.stop], [token], asked.logprobs or 0, asked.logprob_token_ids
                )
            slot.append(token)
            outputs.append(StepOutput(request.slot, [token], reported, prompt))
        return outputs

    def _split_rows(self, scheduled: list[ScheduledRequest], batch: Batch) -> list[slice]:
        """Which rows of the logits belong to each share; they lie in the order of the schedule."""
        starts = torch.searchsorted(batch.sample_rows, torch.tensor(batch.query_starts)).tolist()
        return [slice(starts[index], starts[index + 1]) for index in range(len(scheduled))]

    @staticmethod
    def _prompt_logprobs(request: ScheduledRequest, slot: Slot, logits: torch.Tensor) -> list[TokenLogprobs] | None:
        if slot.sampling.prompt_logprobs is None or request.num_computed >= slot.prompt_length:
            return None
        following = slot.token_ids[request.num_computed + 1 : request.num_computed + request.num_tokens + 1]
        following = following[: slot.prompt_length - request.num_computed - 1]
        if not following:
            return []
        return token_logprobs(logits[: len(following)], following, slot.sampling.prompt_logprobs)
