"""Rebuilding a tokenizer from a GGUF vocabulary takes seconds, so the result is kept in the user's cache folder.

An entry is one file: a header line with a digest, then tokenizer.json. It belongs to one state of one GGUF file
(place, size, time of change); a damaged or unreadable entry is logged and built again.
"""

import hashlib
import json
import logging
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

import tokenizers
from platformdirs import user_cache_path

from appliance.engine.checkpoint.errors import CheckpointError
from appliance.engine.checkpoint.gguf_header import read_gguf

from .description import Description
from .errors import TokenizerError
from .gguf_vocabulary import build

logger = logging.getLogger("appliance.tokenizer")

LAYOUT = 1
"""Raised whenever the conversion or the entry's form changes."""


def load_gguf(path: Path) -> tuple[tokenizers.Tokenizer, Description]:
    entry = cache_folder() / f"{_identity(path)}.json"
    cached = _read(entry)
    if cached is not None:
        return cached
    try:
        metadata = read_gguf(path, arrays=True).metadata
    except CheckpointError as error:
        raise TokenizerError(error.path, error.fact, error.fix) from error
    backend, description = build(str(path), metadata)
    _write(entry, backend.to_str(), description)
    return backend, description


def cache_folder() -> Path:
    """Holds one entry per GGUF file; APPLIANCE_CACHE moves it with everything else that is cached."""
    given = os.environ.get("APPLIANCE_CACHE")
    root = Path(given).expanduser() if given else user_cache_path("appliance")
    return root / "tokenizers"


def _identity(path: Path) -> str:
    status = path.stat()
    parts = [LAYOUT, tokenizers.__version__, str(path.resolve()), status.st_size, status.st_mtime_ns]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _read(entry: Path) -> tuple[tokenizers.Tokenizer, Description] | None:
    try:
        head, _, body = entry.read_bytes().partition(b"\n")
        header = json.loads(head)
        if header["sha256"] != hashlib.sha256(body).hexdigest():
            raise ValueError("its digest does not match")
        said = header["description"]
        description = Description(said["special_tokens"], tuple(said["eos_tokens"]), said["chat_templates"])
        return tokenizers.Tokenizer.from_str(body.decode()), description
    except FileNotFoundError:
        return None
    except Exception as error:  # whatever the damage, the entry can be built again
        logger.warning("the cached tokenizer %s is unusable (%s) and is built again", entry, error)
        return None


def _write(entry: Path, body: str, description: Description) -> None:
    raw = body.encode()
    header = {"sha256": hashlib.sha256(raw).hexdigest(), "description": asdict(description)}
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=entry.parent, prefix=entry.stem, suffix=".part", delete=False) as file:
            part = Path(file.name)
            try:
                file.write(json.dumps(header).encode() + b"\n" + raw)
                file.close()
                part.replace(entry)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("the tokenizer cannot be cached (%s); the next start builds it again", error)
