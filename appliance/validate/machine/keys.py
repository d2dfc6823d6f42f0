"""Are the API keys where the profile says they are?"""

from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ..facts import Facts
from .secret import in_file, in_variable


def api_keys(facts: Facts) -> Iterator[Diagnostic]:
    for index, key in enumerate(facts.profile.security.api_keys):
        path = f"security.api_keys[{index}]"
        if key.env is not None:
            yield from in_variable(facts, path, key.env)
        elif key.file is not None:
            yield from in_file(facts, path, key.file)
