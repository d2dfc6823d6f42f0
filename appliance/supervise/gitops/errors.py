"""Why a look ends without a profile: `code` has a page, `fact` and `fix` are shown, and hold no secret."""

from dataclasses import dataclass


@dataclass
class FailedError(Exception):
    """The repository gave no answer."""

    code: str
    fact: str
    fix: str


@dataclass
class RefusedError(Exception):
    """It gave one that is not used."""

    code: str
    fact: str
    fix: str
