"""`choice`: one of several named options, answered with a letter."""

import string
from collections.abc import Sequence
from typing import Any

from .base import Option, Question, best, labelled_line, text
from .errors import DecisionError


class Choice:
    name = "choice"
    labels = tuple(string.ascii_uppercase)
    reply_line = "Answer with the letter of one option only."

    def options(self, question_id: str, criteria: Any) -> list[Option]:
        if not isinstance(criteria, dict) or not criteria:
            raise DecisionError(
                f'question "{question_id}": criteria of a choice must be an object: option name -> text or null',
                "questions",
            )
        return [Option(str(name), text(description)) for name, description in criteria.items()]

    def option_line(self, label: str, option: Option) -> str:
        return labelled_line(label, option)

    def answer(self, question: Question, probabilities: Sequence[float], confidence: float) -> dict[str, Any]:
        names = [option.name for option in question.options]
        return {
            "type": self.name,
            "choice": names[best(probabilities)],
            "probabilities": dict(zip(names, probabilities, strict=True)),
            "confidence": confidence,
        }
