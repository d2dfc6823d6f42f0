"""A name for a set of weights, cheap enough for every boot."""

import hashlib
import os
from itertools import groupby

from appliance.engine.checkpoint.checkpoint import Checkpoint

SAMPLE = 64


def fingerprint(checkpoint: Checkpoint) -> str:
    """16 hex digits over every tensor's name, type and shape and 64 bytes from the middle of its data.

    Tells checkpoints apart and notices a fine-tune or another quantisation; it is no proof against tampering
    (a change that leaves all samples alone goes unseen): that is what `sha256` in the profile is for.
    """
    digest = hashlib.sha256(checkpoint.config.architecture.encode())
    for path, inside in groupby(sorted(checkpoint.tensors, key=lambda t: (t.file, t.name)), lambda t: t.file):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            for tensor in inside:
                digest.update(f"{tensor.name} {tensor.dtype} {tensor.shape}\n".encode())
                middle = max(0, tensor.nbytes // 2 - SAMPLE // 2)
                digest.update(os.pread(descriptor, min(SAMPLE, tensor.nbytes), tensor.offset + middle))
        finally:
            os.close(descriptor)
    return digest.hexdigest()[:16]
