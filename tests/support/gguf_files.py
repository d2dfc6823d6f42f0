"""Small GGUF files of any supported architecture, written by the gguf library."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np

SIZES: dict[str, Any] = {
    "context_length": 2048,
    "embedding_length": 64,
    "block_count": 7,
    "feed_forward_length": 96,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "attention.layer_norm_rms_epsilon": 1e-5,
}


def write_gguf(
    path: Path,
    arch: str = "llama",
    keys: Mapping[str, Any] | None = None,
    tensors: Mapping[str, np.ndarray] | None = None,
    plain: Mapping[str, Any] | None = None,
) -> Path:
    """`keys` get the architecture's prefix (None removes one), `plain` stand as they are."""
    writer = gguf.GGUFWriter(str(path), arch)
    for key, value in {**SIZES, **(keys or {})}.items():
        if value is not None:
            add(writer, f"{arch}.{key}", value)
    for key, value in {
        "tokenizer.ggml.tokens": ["a", "b", "日本"],
        "tokenizer.ggml.eos_token_id": 2,
        **(plain or {}),
    }.items():
        add(writer, key, value)
    default = {"token_embd.weight": np.ones((96, 64), np.float32), "blk.0.attn_q.weight": np.ones((64, 64), np.float16)}
    for name, tensor in {**default, **(tensors or {})}.items():
        writer.add_tensor(name, tensor)
    finish(writer)
    return path


def finish(writer: gguf.GGUFWriter) -> None:
    """Everything that was added, to its file."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add(writer: gguf.GGUFWriter, key: str, value: Any) -> None:
    match value:
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case _:
            writer.add_array(key, value)
