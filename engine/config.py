"""What the engine process is told at start. Plain values only: it never sees a profile, and this needs no torch."""

from dataclasses import dataclass
from typing import Literal

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["text", "json"]

RECONFIGURABLE = frozenset(
    {"max_sequences", "max_batch_tokens", "max_context", "prefix_caching", "chunked_prefill", "log_level", "log_format"}
)
"""Fields of EngineConfig that a running engine takes between two steps: they touch neither weights nor KV layout."""


@dataclass(frozen=True)
class EngineConfig:
    """One engine process. Built by the planner, sent to the child as JSON on standard input.

    Sizes are in tokens, sequences or blocks; `address` is the ZeroMQ endpoint the engine binds (`ipc://...`).
    """

    address: str
    model_path: str
    """Folder with config.json and safetensors, or one .gguf file."""
    dtype: str
    """float32 | bfloat16 | float16: dtype of weights and activations."""
    kv_dtype: str
    """Name of a KV format in kernels/kv."""
    block_tokens: int
    num_blocks: int
    max_context: int
    max_sequences: int
    max_batch_tokens: int
    """Token budget of one scheduler step."""
    prefix_caching: bool = True
    chunked_prefill: bool = True
    threads: int = 0
    """CPU threads for tensor work; 0 = what torch chooses."""
    device: str = "cpu"
    generation: int = 1
    log_level: LogLevel = "info"
    log_format: LogFormat = "text"

    def __post_init__(self) -> None:
        assert self.block_tokens > 0 and self.num_blocks > 0 and self.max_sequences > 0
        assert self.max_batch_tokens >= self.max_sequences or self.chunked_prefill
        assert self.max_context > 0
