"""Failures of decisions: a request's own, and a model's that cannot decide at all."""

from dataclasses import dataclass


@dataclass
class DecisionError(ValueError):
    """The request is wrong; the message is fit for the client (400). `param` is the request field at fault."""

    message: str
    param: str | None = None

    def __str__(self) -> str:
        return self.message


class UnavailableError(ValueError):
    """This model cannot decide; the message says why, for client (501) and operator."""
