"""An adapter's folder as PEFT saves it -> its checked matrices, and a name for exactly these bytes."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load

from appliance.engine.checkpoint.errors import CheckpointError
from appliance.engine.checkpoint.fields import shorten
from appliance.engine.checkpoint.safetensors_header import read_file
from appliance.engine.lora.config import NAME, LoraConfig, read_lora_config
from appliance.engine.lora.stored import WEIGHTS

TENSOR = re.compile(r"base_model\.model\.(?P<module>.+)\.lora_(?P<side>[AB])\.weight")
SHOWN = 4
LONGEST_NAME = 120


@dataclass(frozen=True)
class LowRank:
    """One module's change: scale * up @ down."""

    down: torch.Tensor
    """[rank, in]"""
    up: torch.Tensor
    """[out, rank]"""
    scale: float


@dataclass(frozen=True)
class AdapterFiles:
    modules: dict[str, LowRank]
    """By the module's name in the base model."""
    fingerprint: bytes
    """SHA-256 of configuration and weights."""


def read_adapter(folder: str, shapes: dict[str, tuple[int, int]]) -> AdapterFiles:
    """`shapes`: (out, in) of every module that can be changed. CheckpointError names what does not fit this model."""
    root = Path(folder)
    if not root.is_dir():
        raise CheckpointError(folder, "is no folder", f"name the folder that holds {NAME} and {WEIGHTS}")
    config = read_lora_config(root)
    path = root / WEIGHTS
    if not path.exists() and (root / "adapter_model.bin").exists():
        raise CheckpointError(
            folder, f"has adapter_model.bin, no {WEIGHTS}", "convert it: pickled weights would run code"
        )
    read_file(path)
    try:
        content = path.read_bytes()
        tensors = load(content)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(str(path), f"cannot be read: {error}", "fetch the file again") from error
    digest = hashlib.sha256((root / NAME).read_bytes() + b"\0" + content).digest()
    return AdapterFiles(_paired(str(path), tensors, config, shapes), digest)


def _paired(
    path: str, tensors: dict[str, torch.Tensor], config: LoraConfig, shapes: dict[str, tuple[int, int]]
) -> dict[str, LowRank]:
    sides: dict[str, dict[str, torch.Tensor]] = {}
    unknown = []
    for name, tensor in tensors.items():
        match = TENSOR.fullmatch(name)
        if match is None or match["module"] not in shapes or not config.changes(match["module"]):
            unknown.append(name)
        else:
            sides.setdefault(match["module"], {})[match["side"]] = tensor
    if unknown:
        raise CheckpointError(
            path,
            f"holds tensors that change nothing this engine can change: {_few(unknown)}",
            "the adapter belongs to another model, or was trained on more than its layers' projections",
        )
    wanted = [module for module in shapes if config.changes(module)]
    absent = [module for module in wanted if len(sides.get(module, {})) < 2]
    if absent or not wanted:
        what = f"has no lora_A and lora_B of {_few(absent)}" if absent else "changes no module of this model"
        raise CheckpointError(path, what, "the adapter is incomplete, or belongs to another model")
    return {module: _low_rank(path, module, config, shapes[module], sides[module]) for module in wanted}


def _low_rank(
    path: str, module: str, config: LoraConfig, shape: tuple[int, int], sides: dict[str, torch.Tensor]
) -> LowRank:
    rank = config.rank_of(module)
    for side, expected in (("A", (rank, shape[1])), ("B", (shape[0], rank))):
        tensor = sides[side]
        if tuple(tensor.shape) != expected:
            fact = f"lora_{side} of {module} is {list(tensor.shape)}, model and rank say {list(expected)}"
            raise CheckpointError(path, fact, "the adapter belongs to another model")
        if not bool(tensor.isfinite().all()):
            raise CheckpointError(path, f"lora_{side} of {module} holds values that are no numbers")
    return LowRank(sides["A"], sides["B"], config.scale_of(module))


def _few(names: Iterable[str]) -> str:
    listed = [shorten(name, LONGEST_NAME) for name in names]
    more = len(listed) - SHOWN
    return ", ".join(listed[:SHOWN]) + (f" and {more} more" if more > 0 else "")
