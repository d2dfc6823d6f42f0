"""A request's questions, checked and in order."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .base import Question, QuestionType
from .choice import Choice
from .errors import DecisionError
from .noul import Noul
from .score import Score

QUESTION_TYPES: dict[str, QuestionType] = {kind.name: kind for kind in (Choice(), Noul(), Score())}
KNOWN_KEYS = {"type", "instructions", "criteria"}
LONGEST_SHOWN = 80
"""Characters of a refused value that a message repeats."""


@dataclass(frozen=True)
class Limits:
    """What one strategy can take."""

    max_questions: int
    max_options: int


def parse_questions(questions: Mapping[str, Any], limits: Limits) -> list[Question]:
    """Raises DecisionError that names the question at fault."""
    if not questions:
        raise DecisionError("questions: there must be at least one", "questions")
    if len(questions) > limits.max_questions:
        raise DecisionError(
            f"questions: this model takes at most {limits.max_questions}, got {len(questions)}", "questions"
        )
    return [_question(name, spec, limits) for name, spec in questions.items()]


def _question(question_id: str, spec: Any, limits: Limits) -> Question:
    if not question_id:
        raise DecisionError("questions: an id cannot be empty", "questions")
    where = f'question "{question_id}"'
    if not isinstance(spec, Mapping):
        raise DecisionError(f"{where}: must be an object", "questions")
    if unknown := sorted(spec.keys() - KNOWN_KEYS):
        raise DecisionError(f"{where}: unknown fields: {', '.join(unknown)}", "questions")
    wanted = spec.get("type")
    kind = QUESTION_TYPES.get(wanted) if isinstance(wanted, str) else None
    if kind is None:
        seen = json.dumps(wanted, ensure_ascii=False)[:LONGEST_SHOWN] if "type" in spec else "missing"
        known = ", ".join(sorted(QUESTION_TYPES))
        raise DecisionError(f"{where}: its type is {seen}, known types are {known}", "questions")
    options = kind.options(question_id, spec.get("criteria"))
    if len({option.name for option in options}) < len(options):
        raise DecisionError(f"{where}: two options have the same name", "questions")
    most = min(limits.max_options, len(kind.labels))
    if len(options) > most:
        raise DecisionError(f"{where}: a {kind.name} takes at most {most} options, got {len(options)}", "questions")
    instructions = spec.get("instructions", "")
    return Question(question_id, kind, "" if instructions is None else str(instructions), tuple(options))
