"""One checkpoint, read from headers: its model, its tensors' places, and what its authors recommend."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from . import gguf_config, hf_config
from .config import ModelConfig
from .dtypes import TensorInfo, dominant_dtype
from .errors import CheckpointError
from .fields import shorten
from .generation import read_generation
from .gguf_header import read_gguf
from .safetensors_header import read_folder
from .task import GGUF_ENCODERS, Task, architecture, check_folder, is_gguf


@dataclass(frozen=True)
class Checkpoint:
    config: ModelConfig
    tensors: tuple[TensorInfo, ...]
    format: Literal["safetensors", "gguf"]
    path: str
    task: Task = "generate"
    sampling_defaults: Mapping[str, float] = field(default_factory=dict)
    """By generation_config.json's names: temperature, top_p, top_k, min_p, repetition_penalty, max_new_tokens."""

    @property
    def weight_bytes(self) -> int:
        """As stored."""
        return sum(tensor.nbytes for tensor in self.tensors)

    @property
    def parameters(self) -> int:
        return sum(tensor.elements for tensor in self.tensors)


def read(path: str) -> Checkpoint:
    """A folder with config.json and safetensors, or one .gguf file; CheckpointError says what is wrong with it."""
    place = Path(path)
    if is_gguf(place):
        return _read_gguf(path)
    check_folder(place)
    kind = architecture(path)
    if not kind.supported and kind.task not in ("generate", "unknown"):
        raise _other_task(str(place / "config.json"), kind.name, kind.task, ", ".join(hf_config.BORDERS))
    config = hf_config.read_config(place)
    tensors = read_folder(place)
    sampling, end_ids = read_generation(place)
    config = replace(config, stored_dtype=dominant_dtype(tensors), eos_token_ids=end_ids or config.eos_token_ids)
    return Checkpoint(config, tensors, "safetensors", path, kind.task, sampling)


def _read_gguf(path: str) -> Checkpoint:
    header = read_gguf(path)
    name = str(header.metadata.get("general.architecture", ""))
    if name in GGUF_ENCODERS:
        raise _other_task(path, name, "embed", ", ".join(gguf_config.ARCHITECTURES))
    if not header.tensors:
        raise CheckpointError(path, "holds no tensors", "use a GGUF of a whole text model")
    config = gguf_config.read_config(path, header)
    task: Task = "embed" if gguf_config.is_embedding(header) else "generate"
    return Checkpoint(config, header.tensors, "gguf", path, task, gguf_config.sampling_defaults(path, header))


def _other_task(path: str, name: str, task: str, supported: str) -> CheckpointError:
    words = {"embed": "an embedding model", "classify": "a classifier", "transcribe": "a speech recogniser"}
    return CheckpointError(
        path,
        f"architecture {shorten(name)} is {words[task]}, the native engine generates text",
        f"supported: {supported}",
    )
