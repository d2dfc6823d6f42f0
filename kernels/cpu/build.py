"""The C++ of this folder as a shared library for this very CPU, built on first use and kept in the cache folder."""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from platformdirs import user_cache_path

from .instructions import instructions

SOURCE = Path(__file__).parent / "source"
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fopenmp", "-fPIC", "-fno-math-errno", "-w")
COMPILERS = ("g++", "c++", "clang++")
TIMEOUT_SECONDS = 300


class CannotBuildError(Exception):
    """Shown as one line."""


def cache_root() -> Path:
    """The folder that models are pulled to: APPLIANCE_CACHE, or `appliance` in the platform's cache folder."""
    given = os.environ.get("APPLIANCE_CACHE")
    return Path(given).expanduser().absolute() if given else user_cache_path("appliance")


def library_file(cache: Path, compiler: str | None = None) -> Path:
    """The library for this very CPU, built where the cache has none; CannotBuildError says why it cannot be.

    `compiler`: a command; None = CXX from the environment, or the first of COMPILERS that is there.
    """
    command = compiler or _compiler()
    target = cache / "kernels" / _identity(command) / "cpu.so"
    if not target.exists():
        build(target, command)
    return target


def build(target: Path, compiler: str | None = None, flags: tuple[str, ...] = FLAGS) -> None:
    """CannotBuildError when it fails; `target` appears whole or not at all."""
    command = compiler or _compiler()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as work:
            _compile(command, flags, Path(work)).replace(target)
    except OSError as error:
        raise CannotBuildError(f"{target.parent} cannot be written: {error.strerror or error}") from error


def _compiler() -> str:
    command = os.environ.get("CXX") or next(filter(shutil.which, COMPILERS), None)
    if command is None:
        raise CannotBuildError(f"no C++ compiler is installed (looked for {', '.join(COMPILERS)})")
    return command


def _compile(command: str, flags: tuple[str, ...], work: Path) -> Path:
    def build(source: Path) -> str:
        made = str(work / f"{source.stem}.o")
        _run([command, *flags, "-c", str(source), "-o", made])
        return made

    with ThreadPoolExecutor() as threads:
        objects = list(threads.map(build, sorted(SOURCE.glob("*.cpp"))))
    # Linked without OpenMP: its functions come from the copy that torch has loaded, whose threads are warm.
    _run([command, "-shared", *objects, "-o", str(work / "cpu.so")])
    return work / "cpu.so"


def _run(command: list[str]) -> str:
    """Standard output."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuildError(f"{command[0]} cannot be run: {error}") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or [f"exit code {done.returncode}"]
        raise CannotBuildError(f"{command[0]} failed: {lines[0]}")
    return done.stdout


def _identity(command: str) -> str:
    """Changes with the source, the compiler, the flags and the instruction set."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    version = _run([command, "--version"])
    digest.update(repr((command, FLAGS, platform.machine(), sorted(instructions()), version)).encode())
    return digest.hexdigest()[:16]
