"""Reading the checkpoint for a plan: what is wrong with it becomes a diagnostic at `model.source`."""

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from appliance.engine.checkpoint import Architecture, Checkpoint, CheckpointError, architecture, read

from .errors import FindPosition, Refusals, nowhere


@dataclass(frozen=True)
class Foreign:
    """A model that vLLM may know and our own engine does not."""

    path: str
    architecture: Architecture
    stored_bytes: int
    error: CheckpointError
    """Why our engine does not."""

    def refuse(self, refusals: Refusals) -> NoReturn:
        _refuse(self.error, refusals)


def read_checkpoint(path: str | Path, position: FindPosition = nowhere) -> Checkpoint | Foreign:
    """ApplianceError AP0410 for what is no checkpoint at all."""
    try:
        return read(str(path))
    except CheckpointError as error:
        try:
            found = architecture(str(path))
        except CheckpointError:
            _refuse(error, Refusals(position))
        return Foreign(str(path), found, _weight_bytes(Path(path)), error)


def _refuse(error: CheckpointError, refusals: Refusals) -> NoReturn:
    refusals.refuse("AP0410", "model.source", f"{error.path}: {error.fact}", error.fix, exit_code=2)


def _weight_bytes(path: Path) -> int:
    files = [path] if path.is_file() else path.iterdir()
    return sum(file.stat().st_size for file in files if file.suffix in (".safetensors", ".bin", ".gguf", ".pt"))
