"""What a question type is, and the question it makes of a request's words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Option:
    name: str
    description: str | None = None


class QuestionType(Protocol):
    """One kind of question: its criteria, the labels a model answers with, and the answer made of probabilities."""

    name: str
    labels: tuple[str, ...]
    """Every label there is, in option order; a question uses as many as it has options."""
    reply_line: str
    """Last line of the question's text: how to answer."""

    def options(self, question_id: str, criteria: Any) -> list[Option]:
        """Raises DecisionError for criteria of another form."""

    def option_line(self, label: str, option: Option) -> str:
        """How one option stands in the question's text."""

    def answer(self, question: "Question", probabilities: Sequence[float], confidence: float) -> dict[str, Any]:
        """`probabilities` in option order, sum 1; `confidence` is the best one's share of the whole vocabulary."""


@dataclass(frozen=True)
class Question:
    id: str
    type: QuestionType
    instructions: str
    options: tuple[Option, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return self.type.labels[: len(self.options)]


def labelled_line(label: str, option: Option) -> str:
    return f"{label}: {option.name} - {option.description}" if option.description else f"{label}: {option.name}"


def text(value: Any) -> str | None:
    return None if value is None else str(value)


def best(probabilities: Sequence[float]) -> int:
    """Index of the highest; the first of equals."""
    return max(range(len(probabilities)), key=probabilities.__getitem__)
