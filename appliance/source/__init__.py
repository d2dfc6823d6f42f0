"""Model sources: the text in a profile -> a model on this machine, verified."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from appliance.diagnostics import ApplianceError, Position
from appliance.source.base import Meter, ModelSource, Progress, ResolvedSource, Want
from appliance.source.parse import parse
from appliance.source.silent import Silent

__all__ = [
    "Meter",
    "ModelSource",
    "Progress",
    "ResolvedSource",
    "Want",
    "fetch",
    "here",
    "parse",
    "resolve",
    "resolve_adapter",
    "resolve_adapters",
]


class ModelSection(Protocol):
    """The part of a profile's `model` section that counts here."""

    @property
    def source(self) -> str: ...

    @property
    def sha256(self) -> str | None: ...


class NamedSource(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str: ...


class AdaptedSection(Protocol):
    """The part of a profile's `model` section that counts for adapters."""

    @property
    def adapters(self) -> Sequence[NamedSource]: ...


def resolve(
    model: ModelSection,
    download: bool = False,
    progress: Progress | None = None,
    base: Path | None = None,
    position: Position | None = None,
    digest: Position | None = None,
) -> ResolvedSource:
    """The model on this machine, fetched first when `download`; ApplianceError (AP05xx) when it cannot be had.

    Relative paths start at `base` (the profile's folder); `position` is that of `model.source` in the profile, `digest`
    that of `model.sha256`.
    """
    return fetch(model.source, model.sha256, download, progress, base, position, digest)


def fetch(
    source: str,
    sha256: str | None = None,
    download: bool = True,
    progress: Progress | None = None,
    base: Path | None = None,
    position: Position | None = None,
    digest: Position | None = None,
) -> ResolvedSource:
    """`resolve` for a source that stands in no profile."""
    where = position or Position(source)
    want = Want(sha256, download, progress or Silent(), base or Path.cwd(), where, digest=digest)
    return parse(source, where).resolve(want)


def resolve_adapters(
    model: AdaptedSection,
    download: bool,
    base: Path,
    position: Callable[[str], Position],
    progress: Progress | None = None,
) -> dict[str, Path]:
    """Folder of each LoRA adapter by its name, fetched first when `download`; ApplianceError (AP05xx) at its field."""
    return {
        adapter.name: resolve_adapter(adapter, index, download, base, position, progress)
        for index, adapter in enumerate(model.adapters)
    }


def resolve_adapter(
    adapter: NamedSource,
    index: int,
    download: bool,
    base: Path,
    position: Callable[[str], Position],
    progress: Progress | None = None,
) -> Path:
    """Folder of the one at `index` of `model.adapters`; ApplianceError (AP05xx) at its field."""
    path = f"model.adapters[{index}].source"
    where = position(path)
    want = Want(None, download, progress or Silent(), base, where, "adapter_config.json")
    try:
        return parse(adapter.source, where).resolve(want).path
    except ApplianceError as error:
        said = [replace(diagnostic, path=path) for diagnostic in error.diagnostics]
        raise ApplianceError(said, exit_code=error.exit_code) from error


def here(model: ModelSection, base: Path | None = None) -> str | None:
    """Path of the model where it is on this machine already and verified; None otherwise."""
    try:
        return str(resolve(model, base=base).path)
    except ApplianceError:
        return None
