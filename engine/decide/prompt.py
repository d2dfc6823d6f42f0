"""The words a next-token read shows the model: the state, then one question."""

import json
from typing import Any

from .base import Question


def state_text(state: Any) -> str:
    """Text stays as it is; anything else as JSON in its own order."""
    return state if isinstance(state, str) else json.dumps(state, ensure_ascii=False)


def question_text(question: Question) -> str:
    lines = [f"Question: {question.instructions}"] if question.instructions else []
    lines += map(question.type.option_line, question.labels, question.options)
    return "\n".join([*lines, question.type.reply_line])


def messages(state: str, instructions: str | None, question: Question) -> list[dict[str, str]]:
    system = [{"role": "system", "content": instructions}] if instructions else []
    return [*system, {"role": "user", "content": f"{state}\n\n{question_text(question)}"}]
