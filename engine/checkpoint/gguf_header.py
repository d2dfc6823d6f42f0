"""A fast reader of GGUF headers (versions 2 and 3, little endian). Reads metadata and tensor places, no tensor data.

Token arrays are only walked over unless asked for: a vocabulary of 50,000 tokens and merges costs about 20 ms that way.
"""

import mmap
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from .dtypes import STORAGE_TYPES, TensorInfo
from .errors import CheckpointError
from .fields import regular_size, shorten

# ids as written in files; values are the names of the format's own specification
TENSOR_TYPES = {0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 12: "Q4_K", 13: "Q5_K",
                14: "Q6_K", 30: "BF16"}  # fmt: skip
REFUSED_TYPES = {9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S",
                 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64",
                 28: "F64", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4"}  # fmt: skip
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
MOST_ENTRIES = 1_000_000
AGAIN = "the download is incomplete or damaged: fetch the file again"


@dataclass(frozen=True)
class GGUFHeader:
    """`metadata` by the file's keys; an array that was not asked for stands as its length under `skipped`."""

    metadata: dict[str, Any]
    tensors: tuple[TensorInfo, ...]
    skipped: dict[str, int]


class _Reader:
    def __init__(self, path: str, data: mmap.mmap) -> None:
        self.path, self.data, self.position, self.size = path, data, 0, len(data)

    def scalar(self, code: str) -> Any:
        width = struct.calcsize(code)
        if self.position + width > self.size:
            raise CheckpointError(self.path, f"ends inside its header at byte {self.size:,}", AGAIN)
        (value,) = struct.unpack_from(f"<{code}", self.data, self.position)
        self.position += width
        return value

    def count(self, what: str, most: int = MOST_ENTRIES) -> int:
        value: int = self.scalar("Q")
        if value > most:
            raise CheckpointError(self.path, f"names {value:,} {what}, at most {most:,} are believable", AGAIN)
        return value

    def string(self) -> str:
        length: int = self.scalar("Q")
        if length > self.size - self.position:
            raise CheckpointError(
                self.path, f"a text of {length:,} bytes at byte {self.position:,} passes the file's end", AGAIN
            )
        text = self.data[self.position : self.position + length]
        self.position += length
        return text.decode("utf-8", errors="replace")

    def array(self, keep: bool) -> list[Any] | int:
        kind, length = self.scalar("I"), self.scalar("Q")
        if kind in SCALARS:
            width = struct.calcsize(SCALARS[kind])
            start, self.position = self.position, self.position + width * length
            if self.position > self.size:
                raise CheckpointError(self.path, f"an array of {length:,} values passes the file's end", AGAIN)
            return list(struct.unpack_from(f"<{length}{SCALARS[kind]}", self.data, start)) if keep else length
        if kind != STRING or length > (self.size - self.position) // 8:
            raise CheckpointError(self.path, f"an array of {length:,} values of type {kind} cannot be read", AGAIN)
        return [self.string() for _ in range(length)] if keep else self._skip_strings(length)

    def _skip_strings(self, length: int) -> int:
        unpack, data, position = struct.Struct("<Q").unpack_from, self.data, self.position
        try:
            for _ in range(length):
                position += 8 + unpack(data, position)[0]
        except (struct.error, OverflowError) as error:
            raise CheckpointError(self.path, f"ends inside a list of {length:,} texts", AGAIN) from error
        self.position = position
        return length

    def tensor(self) -> tuple[str, str, tuple[int, ...], int]:
        name, dimensions = self.string(), self.scalar("I")
        if dimensions > 4:
            raise CheckpointError(
                self.path, f"tensor {shorten(name)} has {dimensions} dimensions, at most 4 are allowed", AGAIN
            )
        shape = tuple(self.scalar("Q") for _ in range(dimensions))[::-1]
        kind, offset = self.scalar("I"), self.scalar("Q")
        if kind not in TENSOR_TYPES:
            seen = REFUSED_TYPES.get(kind, f"number {kind}")
            raise CheckpointError(
                self.path,
                f"tensor {shorten(name)} has type {seen}",
                f"supported are {', '.join(TENSOR_TYPES.values())}",
            )
        return name, TENSOR_TYPES[kind], shape, offset


def read_gguf(path: str | Path, arrays: bool = False) -> GGUFHeader:
    """Metadata and tensors of a GGUF file; `arrays` also reads token lists and other arrays of more than 64 values."""
    path = str(path)
    try:
        regular_size(Path(path))
        with Path(path).open("rb") as file:
            if file.read(4) != b"GGUF":
                raise CheckpointError(path, "is not a GGUF file (it does not start with GGUF)", AGAIN)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _read(_Reader(path, data), arrays)
    except OSError as error:
        raise CheckpointError(path, f"cannot be read: {error.strerror}", "correct path or permissions") from error


def _read(reader: _Reader, arrays: bool) -> GGUFHeader:
    reader.position = 4
    version = reader.scalar("I")
    if version not in (2, 3):
        hint = (
            "a big-endian file" if int.from_bytes(struct.pack("<I", version), "big") in (2, 3) else f"version {version}"
        )
        raise CheckpointError(reader.path, f"is {hint}, supported are little-endian files of versions 2 and 3")
    tensor_count, key_count = reader.count("tensors"), reader.count("metadata keys")
    metadata: dict[str, Any] = {}
    skipped: dict[str, int] = {}
    for _ in range(key_count):
        key, kind = reader.string(), reader.scalar("I")
        if kind in SCALARS:
            metadata[key] = reader.scalar(SCALARS[kind])
        elif kind == STRING:
            metadata[key] = reader.string()
        elif kind == ARRAY:
            value = reader.array(keep=arrays or not key.startswith("tokenizer."))
            if isinstance(value, int):
                skipped[key] = value
            else:
                metadata[key] = value
        else:
            raise CheckpointError(reader.path, f"key {shorten(key)} has the unknown type {kind}", AGAIN)
    described = [reader.tensor() for _ in range(tensor_count)]
    alignment = metadata.get("general.alignment", 32)
    if type(alignment) is not int or not 1 <= alignment <= 2**20:
        raise CheckpointError(reader.path, f"general.alignment is {shorten(alignment)}", AGAIN)
    start = -(-reader.position // alignment) * alignment
    tensors = tuple(_place(reader, start, *tensor) for tensor in described)
    position = start
    for tensor in tensors:
        if tensor.offset != position:
            raise CheckpointError(
                reader.path,
                f"tensor {shorten(tensor.name)} starts at byte {tensor.offset:,}, expected {position:,}",
                AGAIN,
            )
        position += -(-tensor.nbytes // alignment) * alignment
    return GGUFHeader(metadata, tensors, skipped)


def _place(reader: _Reader, start: int, name: str, dtype: str, shape: tuple[int, ...], offset: int) -> TensorInfo:
    kind = STORAGE_TYPES[dtype]
    if shape and shape[-1] % kind.block:
        raise CheckpointError(
            reader.path, f"tensor {shorten(name)}: rows of {shape[-1]} are not whole {dtype} blocks", AGAIN
        )
    nbytes = prod(shape) // kind.block * kind.block_bytes
    if start + offset + nbytes > reader.size:
        raise CheckpointError(
            reader.path,
            f"tensor {shorten(name)} ends at byte {start + offset + nbytes:,} of a file with {reader.size:,}",
            AGAIN,
        )
    return TensorInfo(name, dtype, shape, reader.path, start + offset, nbytes)
