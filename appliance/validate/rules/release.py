"""Which releases' semantics this appliance serves."""

from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ..facts import Facts

NEWEST = "0.32"
OLDER = ("0.31",)
MIGRATE = "`appliance migrate --write FILE` does both"


def served(facts: Facts) -> Iterator[Diagnostic]:
    release = facts.profile.release
    if release == NEWEST:
        return
    if release in OLDER:
        fact = f'"{release}" is an older release, this appliance serves "{NEWEST}"'
        yield facts.error("AP0201", "release", fact, f'adapt it and write "{NEWEST}"; {MIGRATE}')
    elif _number(release) > _number(NEWEST):
        fact = f'"{release}" is newer than "{NEWEST}", the newest release this appliance knows'
        yield facts.error("AP0201", "release", fact, "upgrade the appliance")
    else:
        yield facts.error(
            "AP0201", "release", f'"{release}" is not a release this appliance knows', f'write "{NEWEST}"'
        )


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))
