"""The tokens that labels become as first token of a reply.

A tokenizer may join a label with the text before it, so each label is encoded behind the prompt's tail: what follows
the last added token, where every merge ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from appliance.engine.tokenizer import Tokenizer

from .base import QuestionType
from .errors import UnavailableError


@dataclass(frozen=True)
class LabelTokens:
    tail: tuple[int, ...]
    """Ids that end every prompt, after its last added token."""
    ids: dict[str, int]
    """Label -> the one id it adds."""

    def fits(self, prompt: Sequence[int]) -> bool:
        return not self.tail or tuple(prompt[-len(self.tail) :]) == self.tail


def find_labels(tokenizer: Tokenizer, prompt: Sequence[int], types: Iterable[QuestionType]) -> LabelTokens:
    """`prompt` is any chat up to the generation prompt; raises UnavailableError that names type and label."""
    start = max((place + 1 for place, token in enumerate(prompt) if token in tokenizer.added_ids), default=0)
    tail = list(prompt[start:])
    before = tokenizer.decode(tail)
    ids: dict[str, int] = {}
    for kind in types:
        taken: dict[int, str] = {}
        for label in kind.labels:
            found = tokenizer.encode(before + label, add_special_tokens=False)
            if found[:-1] != tail:
                raise UnavailableError(
                    f'the label "{label}" of {kind.name} questions is not one token after this model\'s chat prompt, '
                    f"which ends in {before[-40:]!r}: {len(tail)} tokens alone, {len(found)} with the label"
                )
            if found[-1] in taken:
                raise UnavailableError(
                    f'the labels "{taken[found[-1]]}" and "{label}" of {kind.name} questions are the same token'
                )
            taken[found[-1]] = label
            ids[label] = found[-1]
    return LabelTokens(tuple(tail), ids)
