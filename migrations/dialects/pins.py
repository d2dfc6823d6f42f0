"""The engine release that files beside a deployment pin: requirement files, pyproject.toml, conda environments."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from appliance.migrations.canonical import Deployment, ReleaseHint, Span
from appliance.migrations.dialects.layers import Layer, span
from appliance.migrations.dialects.serving import PIN, pin_hint

_FILES = (
    "requirements.txt",
    "requirements-vllm.txt",
    "requirements/vllm.txt",
    "pyproject.toml",
    "environment.yml",
    "environment.yaml",
)
_LINE = re.compile(r"^[^#\n]*?\b(vllm(?:\[[\w,-]*\])?\s*[=~]?=\s*v?\d[\w.]*)", re.MULTILINE)
_LIMIT = 1 << 20


def pinned(text: str) -> ReleaseHint | None:
    """What a requirement file says, with the place in that file."""
    found = _LINE.search(text)
    if found is None:
        return None
    requirement = re.sub(r"\s*[=~]?=\s*", "==", found[1], count=1)
    return pin_hint(requirement, Span(found.start(1), found.end(1)))


def pin_in(layer: Layer) -> ReleaseHint | None:
    """What a script installs."""
    found = PIN.search(layer.text)
    return pin_hint(found.group(), span(layer, *found.span())) if found else None


def neighbour(path: str) -> ReleaseHint | None:
    """The first pin in the folder of the file; its source names the file and the line. Its span is empty."""
    folder = Path(path).parent
    for name in _FILES:
        file = folder / name
        try:
            if not file.is_file() or file.stat().st_size > _LIMIT:
                continue
            text = file.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue
        hint = pinned(text)
        if hint is not None:
            line = text.count("\n", 0, hint.span.start) + 1
            return replace(hint, span=Span(0, 0), source=f"{name}:{line}")
    return None


def with_neighbours(path: str, deployments: Iterable[Deployment]) -> list[Deployment]:
    """Deployments that name no release take the one of the files beside theirs."""
    found = list(deployments)
    if all(deployment.release is not None for deployment in found):
        return found
    hint = neighbour(path)
    return [replace(d, release=hint) if d.release is None and hint else d for d in found]
