"""Are the API keys where the profile says they are? Their values are never shown."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

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
    value = facts.environ.get(name)
    if value is None:
        yield facts.error("AP0305", path, f"the environment variable {name} is not set", "set it")
    elif not value.strip():
        yield facts.error("AP0305", path, f"the environment variable {name} is empty", "put the key in it")


def _file(facts: Facts, path: str, name: str) -> Iterator[Diagnostic]:
    try:
        with Path(name).open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            first = file.readline(65536)
    except OSError as error:
        yield facts.error("AP0306", path, f"{name} cannot be read: {error.strerror}", "correct path or permissions")
        return
    if not first.strip():
        yield facts.error("AP0306", path, f"the first line of {name} is empty", "write the key on it")
    elif mode & stat.S_IROTH:
        yield facts.warning("AP0307", path, f"every user of this machine can read {name}", f"chmod 600 {name}")
