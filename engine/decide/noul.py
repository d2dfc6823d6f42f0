"""`noul`: yes or no, either side optionally described."""

from collections.abc import Sequence
from typing import Any

from .base import Option, Question, text
from .errors import DecisionError


class Noul:
    name = "noul"
    labels: tuple[str, ...] = ("yes", "no")
    reply_line = "Answer with yes or no only."

    def options(self, question_id: str, criteria: Any) -> list[Option]:
        described = {} if criteria is None else criteria
        if not isinstance(described, dict) or not described.keys() <= {"true", "false"}:
            raise DecisionError(
                f'question "{question_id}": criteria of a noul must be null or an object with the keys true and false',
                "questions",
            )
        return [Option("yes", text(described.get("true"))), Option("no", text(described.get("false")))]

    def option_line(self, label: str, option: Option) -> str:
        return f"{label}: {option.description}" if option.description else label

    def answer(self, question: Question, probabilities: Sequence[float], confidence: float) -> dict[str, Any]:
        yes, no = probabilities
        return {
            "type": self.name,
            "noul": yes,
            "probabilities": {"yes": yes, "no": no},
            "confidence": confidence,
        }
