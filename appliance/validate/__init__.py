"""The one road from a profile's file to a checked profile, in tiers: text, schema, meaning, this machine.

Every command that takes a profile comes through `validate`, so none accepts what another refuses.
"""

from collections.abc import Callable, Mapping
from os import fspath
from pathlib import Path

from ..diagnostics import Diagnostic
from ..profile import Profile, load
from .facts import Facts, Rule
from .result import ValidationResult

__all__ = ["Facts", "Rule", "ValidationResult", "validate"]


def validate(
    path: str | Path,
    offline: bool = False,
    locate: Callable[[Profile], str | None] | None = None,
    environ: Mapping[str, str] | None = None,
    text: str | None = None,
    base: Path | None = None,
) -> ValidationResult:
    """Never raises for what the file holds. `offline` leaves out everything that depends on this machine.

    `locate` finds a model of a hub or a wheel in this machine's caches; without it only local ones are looked into.
    With `text`, `path` is only how diagnostics call it; `base` is the folder that its relative paths start from.
    """
    document, profile, found = load(fspath(path), environ, text, base)
    if profile is None:
        return ValidationResult(document, None, tuple(found))
    facts = Facts(document, profile, locate) if environ is None else Facts(document, profile, locate, environ)
    findings: list[Diagnostic] = list(found)
    for rule in tiers(offline):
        findings.extend(rule(facts))
    ordered = tuple(sorted(findings, key=lambda finding: finding.position))
    return ValidationResult(document, profile, ordered, facts)


def tiers(offline: bool) -> tuple[Rule, ...]:
    from .rules import RULES

    if offline:
        return RULES
    from .machine import MACHINE_RULES

    return RULES + MACHINE_RULES
