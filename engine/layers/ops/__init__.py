"""What happens to tokens between matrix products, by torch or by compiled kernels."""

import logging

import torch

from .base import Ops
from .compiled import CompiledOps, compiled_ops
from .eager import EagerOps

__all__ = ["CompiledOps", "EagerOps", "Ops", "choose_ops"]

logger = logging.getLogger("appliance.engine")


def choose_ops(dtype: torch.dtype, head_dim: int, *widths: int) -> Ops:
    """`widths` of the rows that are normalised and gated. Compiled kernels where there are any for these sizes."""
    return compiled_ops(dtype, head_dim, widths) or EagerOps()
