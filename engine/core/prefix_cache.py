"""Which block holds which tokens: full blocks found again by a hash chained over everything before them.

The hash is cryptographic because prompts are hostile: a collision would let one client read another's context.
"""

from array import array
from collections.abc import Sequence
from hashlib import blake2b

DIGEST_BYTES = 32


def root_hash(salt: str | None, adapter: bytes = b"") -> bytes:
    """Parent of a sequence's first block; requests with different salts or adapters share nothing.

    `adapter`: a fingerprint of fixed length; empty = the base model.
    """
    root = bytes(DIGEST_BYTES)
    if salt is not None:
        root = blake2b(salt.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES, person=b"cache salt").digest()
    if adapter:
        root = blake2b(adapter + root, digest_size=DIGEST_BYTES, person=b"adapter").digest()
    return root


def block_hash(parent: bytes, token_ids: Sequence[int]) -> bytes:
    return blake2b(parent + array("q", token_ids).tobytes(), digest_size=DIGEST_BYTES).digest()


class PrefixCache:
    """One block per hash and one hash per block."""

    def __init__(self) -> None:
        self._block_of: dict[bytes, int] = {}
        self._hash_of: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._block_of)

    def __contains__(self, block: int) -> bool:
        return block in self._hash_of

    def find(self, digest: bytes) -> int | None:
        return self._block_of.get(digest)

    def register(self, digest: bytes, block: int) -> bool:
        """False when another block holds the same tokens already: the first one stays."""
        if digest in self._block_of:
            return False
        assert block not in self._hash_of, f"block {block} is registered already"
        self._block_of[digest] = block
        self._hash_of[block] = digest
        return True

    def forget(self, block: int) -> None:
        """Unknown blocks are fine."""
        digest = self._hash_of.pop(block, None)
        if digest is not None:
            del self._block_of[digest]

    def check_integrity(self) -> None:
        assert len(self._block_of) == len(self._hash_of)
        assert all(self._block_of[digest] == block for block, digest in self._hash_of.items())
