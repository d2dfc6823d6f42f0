"""Tensors of a GGUF file under Hugging Face names and with Hugging Face's numbers, one at a time."""

from collections.abc import Iterator

import torch

from appliance.engine.checkpoint.config import ModelConfig
from appliance.engine.checkpoint.dtypes import STORAGE_TYPES, TensorInfo

from .dequant import dequantise
from .gguf_names import INTERLEAVED, NORM_PLUS_ONE, SKIPPED, hf_name


def read_tensors(
    config: ModelConfig, tensors: tuple[TensorInfo, ...], dtype: torch.dtype, workers: int
) -> Iterator[tuple[str, torch.Tensor, int]]:
    """(name, tensor, bytes in the file). Quantised tensors come in `dtype`, others as stored, on the mapped file."""
    path = tensors[0].file
    size = max(tensor.offset + tensor.nbytes for tensor in tensors)
    content = torch.from_file(path, shared=False, size=size, dtype=torch.uint8)
    for tensor in tensors:
        if tensor.name not in SKIPPED:
            name = hf_name(config.architecture, tensor.name)
            yield name, _read(config, tensor, content, name, dtype, workers), tensor.nbytes


def _read(
    config: ModelConfig, tensor: TensorInfo, content: torch.Tensor, name: str, dtype: torch.dtype, workers: int
) -> torch.Tensor:
    storage = STORAGE_TYPES[tensor.dtype]
    plain = bool(storage.torch_name)
    rows = content[tensor.offset : tensor.offset + tensor.nbytes]
    rows = rows.view(tensor.shape[0] if plain or len(tensor.shape) > 1 else 1, -1)
    if config.architecture in INTERLEAVED and ".self_attn.q_proj." in name:
        rows = _halves_apart(rows, config.num_heads)
    elif config.architecture in INTERLEAVED and ".self_attn.k_proj." in name:
        rows = _halves_apart(rows, config.num_kv_heads)
    if not plain:
        return dequantise(rows, tensor.dtype, dtype, workers).view(tensor.shape)
    if rows.storage_offset() % storage.block_bytes:
        rows = rows.clone()
    values = rows.view(getattr(torch, storage.torch_name)).view(tensor.shape)
    return values - 1 if config.architecture in NORM_PLUS_ONE and name.endswith("norm.weight") else values


def _halves_apart(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """[heads * (head_dim / 2) * 2, ...] -> rows of each head with even ones first, then odd ones."""
    return rows.view(heads, -1, 2, *rows.shape[1:]).transpose(1, 2).reshape(rows.shape)
