"""What a checkpoint says about itself, read from headers alone. No torch here: the planner imports this."""

from .checkpoint import Checkpoint, read
from .config import ModelConfig, RopeConfig
from .dtypes import TensorInfo
from .errors import CheckpointError
from .gguf_header import GGUFHeader, read_gguf
from .task import Architecture, architecture

__all__ = [
    "Architecture",
    "Checkpoint",
    "CheckpointError",
    "GGUFHeader",
    "ModelConfig",
    "RopeConfig",
    "TensorInfo",
    "architecture",
    "read",
    "read_gguf",
]
