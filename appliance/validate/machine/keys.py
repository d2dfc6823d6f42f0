"""Are the API keys where the profile says they are? Their values are never shown."""

import stat
from collections.abc import Iterator
from pathlib import Path

from ...api_key import UnusableKeyError, from_file, from_variable
from ...diagnostics import Diagnostic
from ..facts import Facts


def api_keys(facts: Facts) -> Iterator[Diagnostic]:
    for index, key in enumerate(facts.profile.security.api_keys):
        path = f"security.api_keys[{index}]"
        if key.env is not None:
            yield from _variable(facts, path, key.env)
        elif key.file is not None:
            yield from _file(facts, path, key.file)


def _variable(facts: Facts, path: str, name: str) -> Iterator[Diagnostic]:
    try:
        from_variable(name, facts.environ.get(name))
    except UnusableKeyError as error:
        yield facts.error("AP0305", path, error.fact, error.fix)


def _file(facts: Facts, path: str, name: str) -> Iterator[Diagnostic]:
    try:
        from_file(name)
    except UnusableKeyError as error:
        yield facts.error("AP0306", path, error.fact, error.fix)
        return
    if Path(name).stat().st_mode & stat.S_IROTH:
        yield facts.warning("AP0307", path, f"every user of this machine can read {name}", f"chmod 600 {name}")
