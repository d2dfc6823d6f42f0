"""How a child Python process of ours is started: same interpreter, no current folder on its path."""

import os
import sys
from pathlib import Path

import appliance


def command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """This process's environment; in a checkout that is not installed, also the way to the package."""
    values = dict(os.environ)
    package = Path(appliance.__file__).resolve().parent
    if not (package / "engine").is_dir():
        inherited = values.get("PYTHONPATH")
        values["PYTHONPATH"] = os.pathsep.join([str(package.parent), *([inherited] if inherited else [])])
    return values
