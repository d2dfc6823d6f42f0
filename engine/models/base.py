"""What the runner asks of a model file. The table of architectures is in `__init__.py`."""

from collections.abc import Iterable
from typing import Protocol

import torch

from appliance.engine.checkpoint.config import ModelConfig
from appliance.engine.layers.attention import AttentionContext
from appliance.engine.layers.ops import Ops
from appliance.engine.layers.parameters import Parameters


class Model(Protocol):
    """Constructed as `cls(config, dtype)` with empty weights; `load` fills them exactly once."""

    config: ModelConfig
    ops: Ops
    parameters: Parameters

    def load(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """(Hugging Face tensor name, tensor) pairs in any order; ValueError names missing and unknown tensors."""
        ...

    def forward(
        self,
        input_ids: torch.Tensor,
        positions: torch.Tensor,
        context: AttentionContext,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """int64 [T], int64 [T], int64 [R] -> hidden states [R, hidden_size] after the last norm; no rows = all T.

        The last layer computes keys and values of all tokens, everything else of it only for `rows`.
        """
        ...

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """[R, hidden_size] -> float32 [R, vocab_size]."""
        ...
