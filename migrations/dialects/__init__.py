"""The file formats in which people keep engine options: one file and one line in the table each."""

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from appliance.migrations.canonical import Deployment, Edit
from appliance.migrations.operations import Operation

# name -> module; each module holds `dialect`, an object that satisfies Dialect. Imported when asked for.
DIALECTS: dict[str, str] = {
    "compose": "appliance.migrations.dialects.compose",
    "kubeai": "appliance.migrations.dialects.kubeai",
    "kserve": "appliance.migrations.dialects.kserve",
    "kaito": "appliance.migrations.dialects.kaito",
    "aibrix": "appliance.migrations.dialects.aibrix",
    "dynamo": "appliance.migrations.dialects.dynamo",
    "vllm-runtime": "appliance.migrations.dialects.vllm_runtime",
    "kubernetes": "appliance.migrations.dialects.kubernetes",
    "production-stack": "appliance.migrations.dialects.production_stack",
    "llm-d": "appliance.migrations.dialects.llm_d",
    "ray-serve": "appliance.migrations.dialects.ray_serve",
    "skypilot": "appliance.migrations.dialects.skypilot",
    "dstack": "appliance.migrations.dialects.dstack",
    "truss": "appliance.migrations.dialects.truss",
    "gpustack": "appliance.migrations.dialects.gpustack",
    "vllm-config": "appliance.migrations.dialects.vllm_config",
    "registry": "appliance.migrations.dialects.registry",
    "shell": "appliance.migrations.dialects.shell",
    "dockerfile": "appliance.migrations.dialects.dockerfile",
    "makefile": "appliance.migrations.dialects.makefile",
    "systemd": "appliance.migrations.dialects.systemd",
    "dotenv": "appliance.migrations.dialects.dotenv",
    "python": "appliance.migrations.dialects.python",
    "nix": "appliance.migrations.dialects.nix",
    "text": "appliance.migrations.dialects.text",
}


class DialectError(Exception):
    """The text is no well-formed file of this dialect; offset says where."""

    def __init__(self, offset: int, fact: str, way_out: str = "") -> None:
        super().__init__(fact)
        self.offset = offset
        self.fact = fact
        self.way_out = way_out


class Dialect(Protocol):
    """Reads option sites out of one file format and writes changes back into it.

    read and edit never raise anything but DialectError and CannotEditError, whatever the text. edit touches no
    character outside the sites' elements, except where it adds an option, variable or comment. No operations, no edits.
    """

    name: str

    def detect(self, path: str, text: str) -> float:
        """0 (not mine) to 1 (certainly mine), from the path and the content."""
        ...

    def read(self, path: str, text: str) -> list[Deployment]: ...

    def edit(self, text: str, deployment: Deployment, operations: Sequence[Operation]) -> list[Edit]:
        """Raises CannotEditError with the operation it cannot carry out; the caller then retries without it."""
        ...


def load(name: str) -> Dialect:
    return cast(Dialect, import_module(DIALECTS[name]).dialect)


def detect(path: str, text: str) -> Dialect | None:
    """The dialect most sure of the text; None when none is."""
    candidates = [(dialect.detect(path, text), dialect) for dialect in map(load, DIALECTS)]
    confidence, best = max(candidates, key=lambda pair: pair[0], default=(0.0, None))
    return best if confidence > 0 else None
