"""The operations by the compiled CPU kernels: one pass over memory each, sums in float32, results rounded once."""

import logging

import torch

from appliance.kernels.cpu.library import LANES, NAMES, WIDEST_HEAD, Library, library

from .eager import ACTIVATIONS

logger = logging.getLogger("appliance.engine")


class CompiledOps:
    def __init__(self, compiled: Library, dtype: torch.dtype) -> None:
        self.library = compiled
        self._rms_norm = compiled.rms_norm(dtype)
        self._gates = {name: compiled.gate(name, dtype) for name in ACTIVATIONS}

    def keep(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.float()

    def rotation_dtype(self, dtype: torch.dtype) -> torch.dtype:
        return torch.float32

    def rms_norm(self, hidden: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        normed = torch.empty_like(hidden)
        rows, width = hidden.shape
        self._rms_norm(hidden.data_ptr(), 0, normed.data_ptr(), weight.data_ptr(), rows, width, eps)
        return normed

    def add_rms_norm(self, hidden: torch.Tensor, delta: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        normed = torch.empty_like(hidden)
        rows, width = hidden.shape
        self._rms_norm(hidden.data_ptr(), delta.data_ptr(), normed.data_ptr(), weight.data_ptr(), rows, width, eps)
        return normed

    def gate(self, activation: str, both: torch.Tensor) -> torch.Tensor:
        rows, width = both.shape[0], both.shape[1] // 2
        gated = both.new_empty(rows, width)
        self._gates[activation](both.data_ptr(), gated.data_ptr(), rows, width)
        return gated


def compiled_ops(dtype: torch.dtype, head_dim: int, widths: tuple[int, ...]) -> CompiledOps | None:
    """None, said once per model, where the kernels cannot be had or do not fit."""
    if dtype not in NAMES:
        return None
    uneven = [size for size in (head_dim, *widths) if size % LANES]
    if uneven or head_dim > WIDEST_HEAD:
        logger.info("no compiled kernels for rows of %s: PyTorch's serve", uneven or head_dim)
        return None
    compiled = library()
    return CompiledOps(compiled, dtype) if compiled else None
