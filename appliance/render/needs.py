"""What a profile refers to and does not hold: secrets by variable or file, models that lie in folders."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from appliance.profile.source import parse_source

from .base import Subject

API_KEYS = "security.api_keys"


@dataclass(frozen=True)
class NamedFile:
    """`path` is the field's, `file` as this machine reads it."""

    path: str
    file: Path


def secret_variables(subject: Subject) -> list[str]:
    """Without repetition, API keys first."""
    gitops = subject.profile.gitops
    git = gitops.credentials.env if gitops and gitops.credentials else None
    names = [key.env for key in subject.profile.security.api_keys]
    return list(dict.fromkeys(name for name in (*names, git) if name))


def secret_files(subject: Subject) -> list[NamedFile]:
    """API keys first; the hosts that ssh accepts come with the key they belong to."""
    gitops = subject.profile.gitops
    found = {f"{API_KEYS}[{index}].file": key.file for index, key in enumerate(subject.profile.security.api_keys)}
    if gitops is not None:
        found["gitops.credentials.file"] = gitops.credentials.file if gitops.credentials else None
        found["gitops.known_hosts"] = gitops.known_hosts
    return [NamedFile(path, Path(file)) for path, file in found.items() if file]


def local_sources(subject: Subject) -> Iterator[NamedFile]:
    """Model and adapters that are not fetched; `file` is a folder, or one .gguf."""
    model = subject.profile.model
    sources = {"model.source": model.source}
    sources |= {f"model.adapters[{index}].source": adapter.source for index, adapter in enumerate(model.adapters)}
    for path, text in sources.items():
        source = parse_source(text)
        if source.kind in ("folder", "gguf"):
            yield NamedFile(path, Path(source.path))
