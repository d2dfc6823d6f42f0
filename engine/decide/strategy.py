"""How a model is asked. Room for others: a joint read of all questions, a canvas, several token forms per label."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from appliance.engine.tokenizer import ChatError, Tokenizer

from .base import Question
from .errors import DecisionError, UnavailableError
from .labels import find_labels
from .prompt import messages, state_text
from .questions import QUESTION_TYPES, Limits
from .reading import Read


@dataclass(frozen=True)
class Decision:
    """One request: questions over a state."""

    state: Any
    questions: Sequence[Question]
    instructions: str | None = None
    template_kwargs: dict[str, Any] = field(default_factory=dict)


class Strategy(Protocol):
    """Made once per model; making it raises UnavailableError with the reason."""

    limits: Limits
    modalities: frozenset[str]
    """Of image, audio, video: what a request may attach."""

    def reads(self, decision: Decision) -> list[Read]:
        """The engine requests, to be submitted together; raises DecisionError. Takes long for a long state."""


class NextTokenStrategy:
    """Any autoregressive model: one prompt per question, the labels' probabilities as first token of the reply.

    The prompts of one request begin alike up to the state's end, so the engine computes the state once.
    """

    limits = Limits(max_questions=64, max_options=26)
    modalities: frozenset[str] = frozenset()

    def __init__(self, tokenizer: Tokenizer, max_context: int) -> None:
        self._tokenizer = tokenizer
        self._max_context = max_context
        try:
            probe = tokenizer.render_chat([{"role": "user", "content": "x"}], enable_thinking=False)
        except ChatError as error:
            raise UnavailableError(str(error)) from error
        prompt = tokenizer.encode(probe, add_special_tokens=False)
        self._labels = find_labels(tokenizer, prompt, QUESTION_TYPES.values())

    def reads(self, decision: Decision) -> list[Read]:
        variables = {"enable_thinking": False, **decision.template_kwargs}
        if variables["enable_thinking"]:
            raise DecisionError(
                "chat_template_kwargs: enable_thinking must be off, a decision is the first token of the reply",
                "chat_template_kwargs",
            )
        state = state_text(decision.state)
        texts = []
        for question in decision.questions:
            chat = messages(state, decision.instructions, question)
            try:
                texts.append(self._tokenizer.render_chat(chat, template_kwargs=variables))
            except ChatError as error:
                raise DecisionError(str(error)) from error
        # a state over the context is refused before it is encoded for every question, a huge one before it is at all
        fewest = self._tokenizer.fewest_tokens(texts[0])
        if fewest >= self._max_context:
            raise self._too_long(decision.questions[0], f"at least {fewest}")
        first = self._read(decision.questions[0], self._tokenizer.encode(texts[0], add_special_tokens=False))
        others = self._tokenizer.encode_many(texts[1:], add_special_tokens=False)
        return [first, *map(self._read, decision.questions[1:], others)]

    def _read(self, question: Question, prompt: list[int]) -> Read:
        if not self._labels.fits(prompt):
            raise DecisionError(
                "chat_template_kwargs: these chat options end the prompt differently, its labels' tokens are unknown",
                "chat_template_kwargs",
            )
        if len(prompt) >= self._max_context:
            raise self._too_long(question, str(len(prompt)))
        return Read(question, prompt, tuple((self._labels.ids[label],) for label in question.labels))

    def _too_long(self, question: Question, tokens: str) -> DecisionError:
        return DecisionError(
            f'question "{question.id}": its prompt has {tokens} tokens, the context holds {self._max_context} '
            "and one must be left for the answer",
            "state",
        )
