"""The plan: a profile resolved against one machine and one checkpoint. Plain data, the same in JSON."""

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import msgspec

from appliance.engine.checkpoint import Checkpoint
from appliance.engine.config import EngineConfig
from appliance.server.config import ServerConfig
from appliance.vllm.config import VllmConfig

from .hardware import HardwareSnapshot
from .machine import Machine
from .resolved import Resolved


@dataclass(frozen=True)
class ModelFacts:
    """From the checkpoint's headers. Bytes as stored."""

    architecture: str
    format: Literal["safetensors", "gguf"]
    path: str
    parameters: int | None
    """None where only vLLM can read the architecture."""
    stored_dtype: str
    """Empty where parameters is None."""
    stored_bytes: int
    max_positions: int | None

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> Self:
        return cls(
            checkpoint.config.architecture,
            checkpoint.format,
            checkpoint.path,
            checkpoint.parameters,
            checkpoint.config.stored_dtype,
            checkpoint.weight_bytes,
            checkpoint.config.max_positions,
        )


@dataclass(frozen=True)
class MachineFacts:
    name: str
    platform: str
    arch: str
    devices: int
    device_name: str
    cores: int

    @classmethod
    def of(cls, hardware: HardwareSnapshot, machine: Machine) -> Self:
        device = hardware.cpu_model if machine.platform == "cpu" else hardware.accelerators[0].name
        return cls(hardware.name, machine.platform, machine.arch, machine.devices, device, machine.cores)


@dataclass(frozen=True)
class MemoryPlan:
    """Bytes of one device. budget = min(memory * fraction, memory - others - reserve), spent on weights ... kv_pool
    and adapters.

    `spare` is what is left of it.
    """

    memory: int
    fraction: float
    others: int
    reserve: int
    budget: int
    budget_reason: str
    weights: int
    head_copy: int
    """Of the weights: the output head's own copy of a tied embedding."""
    processes: int
    workspace: int
    gathered: int
    """Copies of the cache that a decode step holds at once when the pool is full."""
    kv_bytes_per_token: int
    """0, as all that follows from it, where only vLLM knows the architecture."""
    kv_bytes_per_block: int
    kv_pool: int
    kv_tokens: int
    """Tokens the pool holds."""
    kv_tokens_that_fit: int
    """Tokens a pool of all that is left would hold."""
    full_sequences: int
    """Sequences of max_context that the pool holds at once."""
    sliding_layers: int
    sliding_excess: int
    """Bytes of the pool that sliding layers hold beyond their windows when one sequence of max_context fills it."""
    spare: int
    """Left of the budget."""
    adapters: int = 0
    """LoRA adapters beside the weights; 0 for backend vllm, which keeps room for them itself."""


@dataclass(frozen=True)
class Plan:
    name: str
    release: str
    hash: str
    """Of the effective plan: equal hashes need no reload."""
    model: ModelFacts
    machine: MachineFacts
    memory: MemoryPlan
    values: tuple[Resolved, ...]
    sampling: dict[str, float]
    """Defaults of requests, from the checkpoint."""
    boot_seconds: float
    """A rough estimate, with the model in the page cache."""
    engine: EngineConfig | None
    """Of each native engine process; None for backend vllm."""
    server: ServerConfig
    vllm: VllmConfig | None = None
    """Of each vLLM process; None for backend native."""
    notes: tuple[str, ...] = ()
    schema: Literal[1] = field(default=1)

    @property
    def needed(self) -> int:
        """Bytes of all its engines with full caches."""
        one = self.memory
        held = one.weights + one.adapters + one.processes + one.workspace + one.gathered + one.kv_pool
        return held * int(self.value("parallelism.data"))

    def value(self, path: str) -> Any:
        """The effective value of one field; KeyError for an unknown path."""
        for resolved in self.values:
            if resolved.path == path:
                return resolved.value
        raise KeyError(path)

    def json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self, order="deterministic"), indent=2) + b"\n"


def plan_hash(values: tuple[Resolved, ...], model: ModelFacts, sampling: dict[str, float]) -> str:
    effective = [[value.path, value.value] for value in values]
    text = msgspec.json.encode([effective, model, sampling], order="deterministic")
    return hashlib.sha256(text).hexdigest()[:16]


def plan_schema() -> dict[str, Any]:
    """JSON Schema of `appliance plan --format json`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Plan)}
