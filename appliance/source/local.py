"""Models that an operator put on this machine: a folder or one .gguf file."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from appliance.profile.source import Source
from appliance.source.base import ResolvedSource, Want, refuse, refuse_digest
from appliance.source.verify import verify


@dataclass(frozen=True)
class _Local:
    path: Path

    @classmethod
    def of(cls, source: Source) -> Self:
        return cls(Path(source.path))

    def place(self, want: Want) -> Path:
        return (want.base / self.path.expanduser()).resolve()


class Folder(_Local):
    def resolve(self, want: Want) -> ResolvedSource:
        path = self.place(want)
        if not path.exists():
            refuse(want.position, "AP0502", f"no folder {path}", "correct the path, or use a hf: or pypi: source")
        if not path.is_dir():
            refuse(want.position, "AP0502", f"{path} is a file", "name a folder with config.json, or a file.gguf")
        if not os.access(path, os.R_OK | os.X_OK):
            refuse(want.position, "AP0502", f"{path} cannot be read by this user", "change its permissions")
        if not (path / want.holds).is_file():
            refuse(want.position, "AP0502", f"{path} has no {want.holds}", f"name the folder that holds {want.holds}")
        if want.sha256:
            fix = "remove model.sha256, or name a file.gguf"
            refuse_digest(want, "sha256 is for single files, the source is a folder", fix)
        return ResolvedSource(path, str(self.path))


class GGUFFile(_Local):
    def resolve(self, want: Want) -> ResolvedSource:
        path = self.place(want)
        if not path.is_file():
            fact = f"{path} is a folder" if path.is_dir() else f"no file {path}"
            refuse(want.position, "AP0502", fact, "correct the path, or use a hf: or pypi: source")
        if not os.access(path, os.R_OK):
            refuse(want.position, "AP0502", f"{path} cannot be read by this user", "change its permissions")
        return ResolvedSource(path, str(self.path), verify(path, want))
