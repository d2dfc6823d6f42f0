"""Libraries built beforehand for kinds of CPUs, for images that carry no compiler.

python -P -m appliance.kernels.cpu.prebuilt FOLDER [KIND...] builds them; APPLIANCE_KERNELS names that folder later.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from .build import FLAGS, CannotBuildError, build
from .instructions import instructions


@dataclass(frozen=True)
class Kind:
    flags: tuple[str, ...]
    needs: frozenset[str]
    """Instructions without which the library would crash."""


V3 = frozenset({"avx2", "fma", "f16c", "bmi2"})
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
# best first
KINDS: dict[str, Kind] = {
    "x86-64-v4-bf16": Kind(("-march=x86-64-v4", "-mavx512bf16"), V4 | {"avx512_bf16"}),
    "x86-64-v4": Kind(("-march=x86-64-v4",), V4),
    "x86-64-v3": Kind(("-march=x86-64-v3",), V3),
}


def prebuilt_file(known: frozenset[str] | None = None) -> Path | None:
    """The best library of APPLIANCE_KERNELS for this CPU (`known`: another one's instructions), or None."""
    folder = os.environ.get("APPLIANCE_KERNELS")
    if not folder:
        return None
    own = instructions() if known is None else known
    files = (Path(folder) / f"{name}.so" for name, kind in KINDS.items() if kind.needs <= own)
    return next(filter(Path.is_file, files), None)


def main(folder: Path, *names: str) -> int:
    for name in names or KINDS:
        others = tuple(flag for flag in FLAGS if not flag.startswith("-march"))
        try:
            build(folder / f"{name}.so", flags=(*others, *KINDS[name].flags))
        except CannotBuildError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
        print(f"{name}: built")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
