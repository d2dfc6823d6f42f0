"""`score`: a place on a scale of ordered levels, answered with a digit."""

import string
from collections.abc import Sequence
from typing import Any

from .base import Option, Question, labelled_line
from .errors import DecisionError


class Score:
    name = "score"
    labels = tuple(string.digits)
    reply_line = "Answer with the number of one level only."

    def options(self, question_id: str, criteria: Any) -> list[Option]:
        if not isinstance(criteria, list) or len(criteria) < 2:
            raise DecisionError(
                f'question "{question_id}": criteria of a score must be a list of two or more levels in order',
                "questions",
            )
        return [Option(str(level)) for level in criteria]

    def option_line(self, label: str, option: Option) -> str:
        return labelled_line(label, option)

    def answer(self, question: Question, probabilities: Sequence[float], confidence: float) -> dict[str, Any]:
        return {
            "type": self.name,
            "score": sum(level * probability for level, probability in enumerate(probabilities)),
            "legend": {str(level): option.name for level, option in enumerate(question.options)},
            "probabilities": {str(level): probability for level, probability in enumerate(probabilities)},
            "confidence": confidence,
        }
