"""Headers of safetensors files, one or sharded: sizes and offsets are checked, no tensor data is read."""

from math import prod
from pathlib import Path
from typing import Any, TypeGuard

from .dtypes import STORAGE_TYPES, TensorInfo
from .errors import CheckpointError
from .fields import parse_json, read_json, regular_size, shorten

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
LARGEST_HEADER = 100 * 1000 * 1000
AGAIN = "the download is incomplete or damaged: fetch the file again"


def read_folder(folder: Path) -> tuple[TensorInfo, ...]:
    """All tensors of the checkpoint in `folder`, in file order."""
    index = folder / INDEX
    names = _shards(index) if index.exists() else _files(folder)
    tensors = [tensor for name in names for tensor in read_file(folder / name)]
    seen: dict[str, str] = {}
    for tensor in tensors:
        if tensor.name in seen:
            raise CheckpointError(tensor.file, f"tensor {shorten(tensor.name)} is also in {seen[tensor.name]}")
        seen[tensor.name] = tensor.file
    if index.exists():
        weight_map = read_json(index)["weight_map"]
        absent = next((name for name in weight_map if name not in seen), None)
        if absent is not None:
            raise CheckpointError(str(index), f"tensor {shorten(absent)} is not in {weight_map[absent]}", AGAIN)
    if not tensors:
        raise CheckpointError(str(folder), "holds no tensors", AGAIN)
    return tuple(tensors)


def _shards(index: Path) -> list[str]:
    weight_map = read_json(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise CheckpointError(str(index), "has no weight_map", AGAIN)
    names = list(dict.fromkeys(map(str, weight_map.values())))
    for name in names:
        if Path(name).name != name or "\0" in name:
            raise CheckpointError(str(index), f"names the shard {shorten(name)}, expected a plain file name")
        if not (index.parent / name).exists():
            raise CheckpointError(str(index), f"shard {name} is missing", "fetch the rest of the checkpoint")
    return names


def _files(folder: Path) -> list[str]:
    if (folder / SINGLE).exists():
        return [SINGLE]
    names = sorted(path.name for path in folder.glob("*.safetensors"))
    if names:
        return names
    pickled = next((path.name for path in [*folder.glob("*.bin"), *folder.glob("*.pt*")]), None)
    if pickled is not None:
        raise CheckpointError(
            str(folder),
            f"has no safetensors file, only {pickled}",
            "convert it: loading pickled weights would run code",
        )
    raise CheckpointError(
        str(folder), "has no safetensors file", "name a folder with model.safetensors, or a .gguf file"
    )


def read_file(path: Path) -> list[TensorInfo]:
    """Tensors of one file by offset. The data must lie without gap or overlap and end where the file ends."""
    try:
        size = regular_size(path)
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or not 2 <= length <= min(LARGEST_HEADER, size - 8):
                raise CheckpointError(
                    str(path), f"header length {length:,} does not fit a file of {size:,} bytes", AGAIN
                )
            header = file.read(length)
    except OSError as error:
        raise CheckpointError(str(path), f"cannot be read: {error.strerror}", "correct path or permissions") from error
    entries = parse_json(str(path), header)
    entries.pop("__metadata__", None)
    start = 8 + length
    tensors = sorted(
        (_tensor(str(path), name, entry, start) for name, entry in entries.items()), key=lambda t: t.offset
    )
    position = start
    for tensor in tensors:
        if tensor.offset != position:
            raise CheckpointError(
                str(path),
                f"tensor {shorten(tensor.name)} starts at byte {tensor.offset:,}, expected {position:,}",
                AGAIN,
            )
        position += tensor.nbytes
    if position != size:
        raise CheckpointError(str(path), f"has {size:,} bytes, its header describes {position:,}", AGAIN)
    return tensors


def _tensor(path: str, name: str, entry: Any, start: int) -> TensorInfo:
    if not isinstance(entry, dict):
        raise CheckpointError(path, f"tensor {shorten(name)} is described by {shorten(entry)}", AGAIN)
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str) or dtype not in STORAGE_TYPES or not STORAGE_TYPES[dtype].torch_name:
        raise CheckpointError(
            path, f"tensor {shorten(name)} has dtype {shorten(dtype)}, supported are F32, F16 and BF16"
        )
    if not _sizes(shape) or not _sizes(offsets) or len(offsets) != 2:
        raise CheckpointError(
            path, f"tensor {shorten(name)} has shape {shorten(shape)} and offsets {shorten(offsets)}", AGAIN
        )
    nbytes = offsets[1] - offsets[0]
    if nbytes != prod(shape) * STORAGE_TYPES[dtype].block_bytes:
        raise CheckpointError(
            path, f"tensor {shorten(name)}: {shorten(shape)} {dtype} does not take {nbytes:,} bytes", AGAIN
        )
    return TensorInfo(name, dtype, tuple(shape), path, start + offsets[0], nbytes)


def _sizes(value: Any) -> TypeGuard[list[int]]:
    return (
        isinstance(value, list) and len(value) <= 8 and all(type(item) is int and 0 <= item < 2**63 for item in value)
    )
