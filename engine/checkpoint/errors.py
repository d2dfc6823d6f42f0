"""Known failures of checkpoints: shown as one line, never as a traceback."""

from dataclasses import dataclass


@dataclass
class CheckpointError(Exception):
    """`fact` names the seen value; `fix` is the way out."""

    path: str
    fact: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.fact}" + (f"; {self.fix}" if self.fix else "")
