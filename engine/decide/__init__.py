"""Structured decisions: typed questions over a state, a probability for every answer. No torch, no HTTP."""

from .errors import DecisionError, UnavailableError
from .questions import QUESTION_TYPES, parse_questions
from .reading import Read, Verdict
from .strategy import Decision, NextTokenStrategy, Strategy

__all__ = [
    "QUESTION_TYPES",
    "Decision",
    "DecisionError",
    "NextTokenStrategy",
    "Read",
    "Strategy",
    "UnavailableError",
    "Verdict",
    "parse_questions",
]
