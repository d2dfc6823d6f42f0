"""The arithmetic of memory: what is there, what the model and one step take, how many tokens the rest can hold."""

from collections.abc import Callable
from dataclasses import dataclass

from appliance.engine.checkpoint import Checkpoint

from .units import size

MIB = 2**20
# Interpreter, torch and server with their libraries; on an accelerator the driver's context and libraries.
PROCESS_BYTES = {"cpu": 640 * MIB}
DEVICE_PROCESS_BYTES = 768 * MIB
KEPT_FREE = 32
# A decode step on the CPU reads one layer of the cache through one gathered copy and its view in the compute dtype.
GATHERED_LAYERS = {"cpu": 2}


@dataclass(frozen=True)
class Budget:
    """Bytes of one device. `budget` = what this appliance may hold: its share, where others leave as much."""

    memory: int
    fraction: float
    others: int

    @property
    def reserve(self) -> int:
        """Kept free of everybody, so that others' growth does not end in the kernel killing processes."""
        return self.memory // KEPT_FREE

    @property
    def budget(self) -> int:
        return max(0, min(int(self.memory * self.fraction), self.memory - self.others - self.reserve))

    def __str__(self) -> str:
        if self.memory * self.fraction <= self.memory - self.others - self.reserve:
            return f"{self.fraction:g} of {size(self.memory)}"
        return f"{size(self.memory)} less {size(self.others)} that others use and {size(self.reserve)} kept free"


@dataclass(frozen=True)
class Shape:
    """What one token costs, per device: `layers` and `kv_heads` after parallelism."""

    layers: int
    kv_heads: int
    content_bytes: int
    block_tokens: int

    @property
    def token_bytes(self) -> int:
        return self.layers * self.kv_heads * self.content_bytes

    @property
    def block_bytes(self) -> int:
        return self.token_bytes * self.block_tokens

    def blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.block_tokens)


@dataclass(frozen=True)
class Costs:
    """Everything besides the KV pool, as functions of the sizes that are still open. Bytes per device."""

    budget: Budget
    shape: Shape
    weights: int
    head_copy: int
    """Of the weights: what the output head holds beside the embedding it shares its numbers with."""
    processes: int
    row_bytes: int
    """Activations of one token of a step."""
    logits_bytes: int
    """One sampled row."""
    gathered_layers: int
    """Of how many layers a decode step holds copies at once."""
    load_peak: int
    """Copies of the largest tensor while weights are loaded; gone before the pool fills."""
    adapters: int = 0

    @property
    def resident(self) -> int:
        """There from boot to end, whatever is asked."""
        return self.weights + self.adapters + self.processes

    def workspace(self, context: int, batch_tokens: int, sequences: int) -> int:
        """Activations, logits and masks of the largest step."""
        mask = min(batch_tokens, context) * context * 5
        return batch_tokens * self.row_bytes + sequences * self.logits_bytes + mask

    def without_pool(self, context: int, batch_tokens: int, sequences: int) -> int:
        """What must be there before any token is cached."""
        work = max(self.workspace(context, batch_tokens, sequences), self.load_peak)
        return self.resident + work

    def blocks_that_fit(self, context: int, batch_tokens: int, sequences: int) -> int:
        """Blocks whose bytes, with the copy that a decode step gathers of them, fit beside everything else."""
        if self.without_pool(context, batch_tokens, sequences) > self.budget.budget:
            return 0
        left = self.budget.budget - self.resident - self.workspace(context, batch_tokens, sequences)
        layers = self.shape.layers
        return max(0, left * layers // (self.shape.block_bytes * (layers + self.gathered_layers)))

    def gathered(self, pool: int) -> int:
        """Bytes of those copies for a pool of `pool` bytes."""
        return pool * self.gathered_layers // self.shape.layers

    def largest_context(self, most: int, step_tokens: Callable[[int], int], sequences: int) -> int:
        """Longest context of which one sequence fits; 0 = not even one block. `step_tokens` of a context's steps."""
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            fits = self.shape.blocks_for(middle) <= self.blocks_that_fit(middle, step_tokens(middle), sequences)
            low, high = (middle, high) if fits else (low, middle - 1)
        return low


def weight_bytes(checkpoint: Checkpoint, element_bytes: int) -> int:
    """Every tensor once in the compute dtype, a stored copy of tied embeddings left out."""
    tied = checkpoint.config.tie_embeddings
    counted = (tensor for tensor in checkpoint.tensors if not (tied and tensor.name == "lm_head.weight"))
    return sum(tensor.elements for tensor in counted) * element_bytes


def head_copy(checkpoint: Checkpoint, element_bytes: int, platform: str) -> int:
    """On CPUs a tied head lays its weights out anew for products, while lookups keep the embedding's rows."""
    config = checkpoint.config
    return config.vocab_size * config.hidden_size * element_bytes if config.tie_embeddings and platform == "cpu" else 0


def costs(
    checkpoint: Checkpoint,
    budget: Budget,
    shape: Shape,
    element_bytes: int,
    platform: str,
    tensor_parallel: int,
    stages: int,
    adapters: int = 0,
) -> Costs:
    """`adapters`: bytes of theirs."""
    config = checkpoint.config
    heads = (config.num_heads + 2 * config.num_kv_heads) * config.head_dim
    row = (4 * config.hidden_size + 2 * heads + 3 * config.intermediate_size) * max(element_bytes, 2)
    largest = max(tensor.elements for tensor in checkpoint.tensors)
    copy = head_copy(checkpoint, element_bytes, platform)
    weights = weight_bytes(checkpoint, element_bytes) + copy
    return Costs(
        budget=budget,
        shape=shape,
        weights=-(-weights // (tensor_parallel * stages)),
        head_copy=copy,
        processes=PROCESS_BYTES.get(platform, DEVICE_PROCESS_BYTES),
        row_bytes=row,
        logits_bytes=3 * 4 * config.vocab_size,
        gathered_layers=GATHERED_LAYERS.get(platform, 0),
        load_peak=largest * 4,
        adapters=adapters,
    )
