"""Control plane. In a wheel the rooms (engine, kernels, ...) are subfolders of this package, in a checkout siblings."""

from pathlib import Path

__version__ = "0.1.0"

if not (Path(__file__).parent / "engine").is_dir():
    __path__.append(str(Path(__file__).resolve().parent.parent))
