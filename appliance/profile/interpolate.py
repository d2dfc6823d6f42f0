"""`${VAR}` and `${VAR:-default}` in strings; `$${` stands for `${`."""

import re
from collections.abc import Mapping

from .quoting import printable

REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)(\}|$)")
FORM = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:(:-)(.*))?", re.DOTALL)


class BadReferenceError(ValueError):
    """(fact, fix); never holds the value of a variable."""


def interpolate(text: str, environ: Mapping[str, str]) -> str:
    """A variable that is not set, or set to nothing, takes its default; without one it must be set."""

    def value(found: re.Match[str]) -> str:
        if found[0] == "$${":
            return "${"
        form = FORM.fullmatch(found[1]) if found[2] else None
        if not form:
            raise BadReferenceError(
                f"{printable(found[0])} is not a reference", "write ${NAME}, ${NAME:-default}, or $${ for a plain ${"
            )
        name, has_default, default = form[1], form[2], form[3]
        if has_default:
            return environ.get(name) or default
        if name not in environ:
            raise BadReferenceError(
                f"the environment variable {name} is not set", f"set it, or write ${{{name}:-default}}"
            )
        return environ[name]

    return REFERENCE.sub(value, text)
