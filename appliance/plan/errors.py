"""How the planner refuses: one diagnostic at the field that is to blame."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity

FindPosition = Callable[[str], Position]


def nowhere(path: str) -> Position:
    return Position("profile")


@dataclass(frozen=True)
class Refusals:
    """Knows where each field stands in the operator's file."""

    position: FindPosition = nowhere

    def refuse(self, code: str, path: str, message: str, fix: str, exit_code: int = 1) -> NoReturn:
        finding = Diagnostic(code, Severity.ERROR, self.position(path), path, message, fix)
        raise ApplianceError([finding], exit_code=exit_code)
