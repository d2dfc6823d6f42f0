"""A checkpoint on disk to a model with its weights."""

from collections.abc import Callable, Iterator
from importlib import import_module

import torch

from appliance.engine.checkpoint.checkpoint import Checkpoint
from appliance.engine.checkpoint.errors import CheckpointError
from appliance.engine.models import ARCHITECTURES
from appliance.engine.models.base import Model

from .fingerprint import fingerprint

FORMATS: dict[str, str] = {"safetensors": "safetensors", "gguf": "gguf"}

Progress = Callable[[int, int], None]
"""Bytes of the files read so far, bytes in all."""


def load_model(checkpoint: Checkpoint, dtype: torch.dtype, progress: Progress | None = None) -> tuple[Model, str]:
    """The model with weights in `dtype`, and their fingerprint. CheckpointError: tensors and configuration disagree.

    Memory: the packed weights and one tensor at a time; the files are mapped, not read.
    """
    module, name = ARCHITECTURES[checkpoint.config.architecture]
    model: Model = getattr(import_module(f"appliance.engine.models.{module}"), name)(checkpoint.config, dtype)
    threads = torch.get_num_threads()
    # Torch's own threads meet at a barrier after every operation, which stalls when another process holds a core.
    torch.set_num_threads(1)
    try:
        with torch.inference_mode(False), torch.no_grad():
            model.load(_counted(checkpoint, dtype, progress, threads))
    except ValueError as error:
        way_out = "the checkpoint is damaged, or its configuration describes another model"
        raise CheckpointError(checkpoint.path, str(error), way_out) from error
    finally:
        torch.set_num_threads(threads)
    return model, fingerprint(checkpoint)


def _counted(
    checkpoint: Checkpoint, dtype: torch.dtype, progress: Progress | None, workers: int
) -> Iterator[tuple[str, torch.Tensor]]:
    reader = import_module(f"appliance.engine.load.{FORMATS[checkpoint.format]}")
    done, total = 0, checkpoint.weight_bytes
    for name, tensor, nbytes in reader.read_tensors(checkpoint.config, checkpoint.tensors, dtype, workers):
        yield name, tensor
        done += nbytes
        if progress is not None:
            progress(done, total)
