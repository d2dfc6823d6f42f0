"""One engine request that answers one question, and what its log-probabilities say."""

import math
from dataclasses import dataclass
from typing import Any

from appliance.engine.protocol import SamplingParams, TokenLogprobs

from .base import Question, best


@dataclass(frozen=True)
class Verdict:
    answer: dict[str, Any]
    label_mass: float
    """Probability of all labels together over the whole vocabulary."""
    argmax_is_label: bool
    """The most likely token of the vocabulary is one of the labels."""


@dataclass(frozen=True)
class Read:
    question: Question
    prompt: list[int]
    groups: tuple[tuple[int, ...], ...]
    """Per label the ids that count for it; a label is as likely as its likeliest form."""

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(token for group in self.groups for token in group)

    def sampling(self) -> SamplingParams:
        return SamplingParams(max_tokens=1, temperature=0.0, logprob_token_ids=self.ids)

    def verdict(self, first: TokenLogprobs) -> Verdict:
        """`first` describes the reply's first token, with the log-probabilities of `ids`."""
        found = dict(zip(first.ids, first.logprobs, strict=True))
        likelihoods = [max(found[token] for token in group) for group in self.groups]
        probabilities = softmax(likelihoods)
        mass = sum(math.exp(found[token]) for token in self.ids)
        confidence = probabilities[best(probabilities)] * mass
        answer = self.question.type.answer(self.question, probabilities, confidence)
        return Verdict(answer, mass, first.token_id in self.ids)


def softmax(values: list[float]) -> list[float]:
    top = max(values)
    weights = [math.exp(value - top) for value in values]
    total = sum(weights)
    return [weight / total for weight in weights]
