"""Tensors of safetensors files, mapped from disk, one at a time."""

from collections.abc import Iterator
from itertools import groupby

import torch
from safetensors import SafetensorError, safe_open

from appliance.engine.checkpoint.config import ModelConfig
from appliance.engine.checkpoint.dtypes import TensorInfo
from appliance.engine.checkpoint.errors import CheckpointError


def read_tensors(
    config: ModelConfig, tensors: tuple[TensorInfo, ...], dtype: torch.dtype, workers: int
) -> Iterator[tuple[str, torch.Tensor, int]]:
    """(name, tensor as stored, bytes in the file)"""
    for path, inside in groupby(tensors, lambda tensor: tensor.file):
        try:
            with safe_open(path, framework="pt") as file:
                for tensor in inside:
                    yield tensor.name, file.get_tensor(tensor.name), tensor.nbytes
        except (SafetensorError, OSError) as error:
            raise CheckpointError(path, f"cannot be read: {error}", "fetch the file again") from error
