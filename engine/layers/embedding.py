"""Token embeddings and the head that turns hidden states into logits, perhaps on the same weights."""

import torch
import torch.nn.functional as F  # noqa: N812

from .parameters import Parameters


class Embedding:
    """int64 [T] -> [T, hidden_size]"""

    __slots__ = ("weight",)

    def __init__(self, parameters: Parameters, vocab_size: int, hidden_size: int) -> None:
        self.weight = parameters.empty("weight", vocab_size, hidden_size)

    def __call__(self, input_ids: torch.Tensor) -> torch.Tensor:
        return F.embedding(input_ids, self.weight)


class Head:
    """[R, hidden_size] -> float32 [R, vocab_size]; without parameters it shares the weights of `embedding`."""

    __slots__ = ("softcap", "weight")

    def __init__(self, embedding: Embedding, parameters: Parameters | None, softcap: float | None) -> None:
        self.weight = embedding.weight if parameters is None else parameters.empty("weight", *embedding.weight.shape)
        self.softcap = softcap

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        logits = F.linear(hidden, self.weight).float()
        return logits if self.softcap is None else logits.div_(self.softcap).tanh_().mul_(self.softcap)
