"""Is a secret where the profile refers to it? Its value is never shown."""

import stat
from collections.abc import Iterator
from pathlib import Path

from ...api_key import UnusableKeyError, from_file, from_variable
from ...diagnostics import Diagnostic
from ..facts import Facts


def in_variable(facts: Facts, path: str, name: str) -> Iterator[Diagnostic]:
    try:
        from_variable(name, facts.environ.get(name))
    except UnusableKeyError as error:
        yield facts.error("AP0305", path, error.fact, error.fix)


def in_file(facts: Facts, path: str, name: str) -> Iterator[Diagnostic]:
    try:
        from_file(name)
    except UnusableKeyError as error:
        yield facts.error("AP0306", path, error.fact, error.fix)
        return
    if Path(name).stat().st_mode & stat.S_IROTH:
        yield facts.warning("AP0307", path, f"every user of this machine can read {name}", f"chmod 600 {name}")
