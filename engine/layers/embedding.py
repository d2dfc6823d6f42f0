"""Token embeddings and the head that turns hidden states into logits, perhaps on the same weights."""

import torch
import torch.nn.functional as F  # noqa: N812

from .linear import Product, best_product
from .parameters import Parameters


class Embedding:
    """int64 [T] -> [T, hidden_size]"""

    __slots__ = ("weight",)

    def __init__(self, parameters: Parameters, vocab_size: int, hidden_size: int) -> None:
        self.weight = parameters.empty("weight", vocab_size, hidden_size)

    def __call__(self, input_ids: torch.Tensor) -> torch.Tensor:
        return F.embedding(input_ids, self.weight)


class Head:
    """[R, hidden_size] -> float32 [R, vocab_size].

    A tied head has the numbers of `embedding`, and on CPUs a second copy of them: lookup wants rows, products do not.
    """

    __slots__ = ("product", "softcap", "weight")

    def __init__(self, embedding: Embedding, parameters: Parameters, tied: bool, softcap: float | None) -> None:
        self.weight = embedding.weight if tied else parameters.empty("weight", *embedding.weight.shape)
        self.product: Product = F.linear
        self.softcap = softcap
        parameters.when_filled(self._pack)

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        logits = self.product(hidden, self.weight, None).float()
        return logits if self.softcap is None else logits.div_(self.softcap).tanh_().mul_(self.softcap)

    def _pack(self) -> None:
        self.weight, self.product = best_product(self.weight)
