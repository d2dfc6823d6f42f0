"""What every decoder-only model here shares: embedding, head, and the weights to be filled."""

from collections.abc import Iterable

import torch

from appliance.engine.checkpoint.config import ModelConfig

from .embedding import Embedding, Head
from .ops import choose_ops
from .parameters import Parameters


class Decoder:
    """Base of the model files, which add blocks, norm and `forward`."""

    def __init__(self, config: ModelConfig, dtype: torch.dtype) -> None:
        self.config = config
        self.ops = choose_ops(dtype, config.head_dim, config.hidden_size, config.intermediate_size)
        self.parameters = Parameters(dtype, ops=self.ops)
        self.body = self.parameters.under("model")
        self.embedding = Embedding(self.body.under("embed_tokens"), config.vocab_size, config.hidden_size)
        head = self.parameters.under("lm_head")
        self.head = Head(self.embedding, head, config.tie_embeddings, config.logit_softcap)

    def load(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        self.parameters.fill(weights, frozenset({"lm_head.weight"} if self.config.tie_embeddings else ()))

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.head(hidden)
