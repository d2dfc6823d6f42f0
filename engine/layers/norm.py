"""Root-mean-square normalisation over the last dimension, accumulated in float32."""

import torch
import torch.nn.functional as F  # noqa: N812

from .parameters import Parameters


class RMSNorm:
    """x / rms(x) * weight, in the dtype of x."""

    __slots__ = ("eps", "shape", "weight")

    def __init__(self, parameters: Parameters, size: int, eps: float) -> None:
        self.shape = (size,)
        self.eps = eps
        self.weight = parameters.empty("weight", size)

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(hidden, self.shape, self.weight, self.eps)


class OffsetRMSNorm:
    """x / rms(x) * (1 + weight), all in float32 and rounded once, as Gemma defines it."""

    __slots__ = ("eps", "shape", "weight")

    def __init__(self, parameters: Parameters, size: int, eps: float) -> None:
        self.shape = (size,)
        self.eps = eps
        self.weight = parameters.empty("weight", size, dtype=torch.float32, offset=1.0)

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(hidden.float(), self.shape, self.weight, self.eps).to(hidden.dtype)


class HeadNorm:
    """RMSNorm of every query and key head over head_dim, queries before keys in [T, all heads, head_dim]."""

    __slots__ = ("dtype", "eps", "shape", "weight")

    def __init__(
        self, parameters: Parameters, heads: int, kv_heads: int, head_dim: int, eps: float, offset: bool = False
    ) -> None:
        self.shape = (head_dim,)
        self.eps = eps
        self.dtype = torch.float32 if offset else parameters.dtype
        times = {"q_norm.weight": heads, "k_norm.weight": kv_heads}
        self.weight = parameters.repeated(times, head_dim, self.dtype, 1.0 if offset else 0.0)

    def __call__(self, queries_and_keys: torch.Tensor) -> torch.Tensor:
        normed = F.rms_norm(queries_and_keys.to(self.dtype), self.shape, None, self.eps).mul_(self.weight)
        return normed.to(queries_and_keys.dtype)
