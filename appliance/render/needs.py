"""What a profile refers to and does not hold: secrets by variable or file, models that lie in folders."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from appliance.profile.source import Source, parse_source

from .base import Subject

API_KEYS = "security.api_keys"
FETCHING = {"hf": ("HF_TOKEN", "HF_ENDPOINT"), "pypi": ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL")}
"""What the libraries that fetch take from the environment, by the kind of source."""
PROXIES = ("HTTPS_PROXY", "NO_PROXY")


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
    for path, source in _sources(subject):
        if source.kind in ("folder", "gguf"):
            yield NamedFile(path, Path(source.path))


def fetched_kinds(subject: Subject) -> list[str]:
    """hf, pypi: from where model and adapters come over the network, without repetition."""
    return list(dict.fromkeys(source.kind for _, source in _sources(subject) if source.kind in FETCHING))


def fetching_variables(subject: Subject) -> list[str]:
    """Optional ones: where from, with which token, and through which proxy."""
    found = [name for kind in fetched_kinds(subject) for name in FETCHING[kind]]
    return [*found, *(PROXIES if found else ())]


def _sources(subject: Subject) -> Iterator[tuple[str, Source]]:
    model = subject.profile.model
    yield "model.source", parse_source(model.source)
    for index, adapter in enumerate(model.adapters):
        yield f"model.adapters[{index}].source", parse_source(adapter.source)
