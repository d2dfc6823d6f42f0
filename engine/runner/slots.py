"""What the runner remembers of the request in each slot: its tokens and its sampling state."""

from dataclasses import dataclass, field

from appliance.engine.core.types import SlotStart
from appliance.engine.protocol import SamplingParams


@dataclass
class Slot:
    """A request's row, from admission to its end or its preemption."""

    token_ids: list[int]
    prompt_length: int
    sampling: SamplingParams
    seed: int
    adapter: int = 0
    """Key of the adapter that changes the model for this request; 0 = none."""
    prompt_set: list[int] = field(default_factory=list)
    """Distinct prompt tokens; kept only where a repetition penalty needs them."""
    output_counts: dict[int, int] = field(default_factory=dict)
    """Occurrences of generated tokens; kept only where a penalty needs them."""

    @classmethod
    def fill(cls, start: SlotStart) -> "Slot":
        sampling = start.sampling
        seed = start.fallback_seed if sampling.seed is None else sampling.seed
        slot = cls(list(start.token_ids), start.prompt_length, sampling, seed, start.adapter)
        if sampling.repetition_penalty != 1.0:
            slot.prompt_set = list(set(start.token_ids[: start.prompt_length]))
        if slot.counts_output:
            for token_id in start.token_ids[start.prompt_length :]:
                slot.output_counts[token_id] = slot.output_counts.get(token_id, 0) + 1
        return slot

    @property
    def counts_output(self) -> bool:
        sampling = self.sampling
        return (
            sampling.repetition_penalty != 1.0 or sampling.presence_penalty != 0.0 or sampling.frequency_penalty != 0.0
        )

    @property
    def generated(self) -> int:
        return len(self.token_ids) - self.prompt_length

    def append(self, token_id: int) -> None:
        self.token_ids.append(token_id)
        if self.counts_output:
            self.output_counts[token_id] = self.output_counts.get(token_id, 0) + 1
