"""Root-mean-square normalisation over the last dimension, accumulated in float32."""

import torch
import torch.nn.functional as F  # noqa: N812

from .parameters import Parameters


class RMSNorm:
    """x / rms(x) * weight, in the dtype of x; `offset`: weight 1 + w, all in float32 and rounded once, as Gemma's."""

    __slots__ = ("eps", "ops", "weight")

    def __init__(self, parameters: Parameters, size: int, eps: float, offset: bool = False) -> None:
        self.eps = eps
        self.ops = parameters.ops
        dtype = torch.float32 if offset else parameters.dtype
        self.weight = parameters.empty("weight", size, dtype=dtype, offset=1.0 if offset else 0.0)
        parameters.when_filled(self._keep)

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.ops.rms_norm(hidden, self.weight, self.eps)

    def after_adding(self, hidden: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
        """hidden += delta in place; returns the norm of the sum."""
        return self.ops.add_rms_norm(hidden, delta, self.weight, self.eps)

    def _keep(self) -> None:
        self.weight = self.ops.keep(self.weight)


class HeadNorm:
    """RMSNorm of every query and key head over head_dim, queries before keys in [T, all heads, head_dim]."""

    __slots__ = ("dtype", "eps", "heads", "shape", "weight")

    def __init__(
        self, parameters: Parameters, heads: int, kv_heads: int, head_dim: int, eps: float, offset: bool = False
    ) -> None:
        self.shape = (head_dim,)
        self.heads = heads
        self.eps = eps
        self.dtype = torch.float32 if offset else parameters.dtype
        times = {"q_norm.weight": heads, "k_norm.weight": kv_heads}
        self.weight = parameters.repeated(times, head_dim, self.dtype, 1.0 if offset else 0.0)

    def __call__(self, queries_and_keys: torch.Tensor) -> torch.Tensor:
        normed = F.rms_norm(queries_and_keys.to(self.dtype), self.shape, None, self.eps).mul_(self.weight)
        return normed.to(queries_and_keys.dtype)

    def weights(self) -> tuple[torch.Tensor, torch.Tensor]:
        """float32 [head_dim] of a query head, and of a key head."""
        return self.weight[0].float(), self.weight[self.heads].float()
