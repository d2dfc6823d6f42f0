"""Every code a diagnostic can carry, with its page: one module per group, imported when a code of it is asked for."""

from importlib import import_module
from types import ModuleType

from ..diagnostics import Code

# first characters of a code -> module beside this file that defines CODES
GROUPS: dict[str, str] = {
    "AP00": "text",
    "AP01": "schema",
    "AP02": "meaning",
    "AP03": "machine",
    "AP04": "plan",
    "AP05": "source",
    "AP06": "run",
    "AP07": "server",
    "AP08": "render",
    "AP09": "history",
    "AP10": "gitops",
    "VM01": "files",
    "VM": "options",
}


def group(name: str) -> dict[str, Code]:
    """Codes of one group by code; empty where the group's part is not there."""
    try:
        module: ModuleType = import_module(f".{GROUPS[name]}", __package__)
    except ModuleNotFoundError as missing:
        if missing.name != f"{__package__}.{GROUPS[name]}":
            raise
        return {}
    codes: dict[str, Code] = module.CODES
    return codes


def find(code: str) -> Code | None:
    wanted = code.upper()
    name = next((name for name in (wanted[:4], wanted[:2]) if name in GROUPS), None)
    return group(name).get(wanted) if name else None


def every() -> dict[str, Code]:
    return {code: page for name in GROUPS for code, page in group(name).items()}
