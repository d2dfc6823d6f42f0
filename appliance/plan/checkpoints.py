"""Reading the checkpoint for a plan: what is wrong with it becomes a diagnostic at `model.source`."""

from pathlib import Path

from appliance.engine.checkpoint import Checkpoint, CheckpointError, read

from .errors import FindPosition, Refusals, nowhere


def read_checkpoint(path: str | Path, position: FindPosition = nowhere) -> Checkpoint:
    """ApplianceError AP0410 for a checkpoint that is damaged, incomplete or of an unknown architecture."""
    try:
        return read(str(path))
    except CheckpointError as error:
        Refusals(position).refuse("AP0410", "model.source", f"{error.path}: {error.fact}", error.fix, exit_code=2)
