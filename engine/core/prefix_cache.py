"""Which block holds which tokens: full blocks found again by a hash chained over everything before them.

The hash is cryptographic because prompts are hostile: a collision would let one client read another's context.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

DIGEST_BYTES = 32

Place = tuple[bytes, str, bytes]
"""Owner, group, and the hash of everything before a block."""


@dataclass(frozen=True)
class Alike:
    """A block whose first `tokens` tokens are those of another one at the same place."""

    block: int
    tokens: int


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
    """One block per hash and one hash per block. A group's first block at a place is found by its first tokens too."""

    def __init__(self) -> None:
        self._block_of: dict[bytes, int] = {}
        self._hash_of: dict[int, bytes] = {}
        self._first_at: dict[Place, tuple[int, list[int]]] = {}
        self._place_of: dict[int, Place] = {}

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

    def settle(self, place: Place, block: int, token_ids: list[int]) -> None:
        """A registered block's place; where there is one already, that stays."""
        assert block in self._hash_of
        if place not in self._first_at:
            self._first_at[place] = block, token_ids
            self._place_of[block] = place

    def alike(self, place: Place, token_ids: Sequence[int]) -> Alike | None:
        """None where no block at this place begins with the first of `token_ids`."""
        block, known = self._first_at.get(place, (-1, []))
        pairs = zip(known, token_ids, strict=False)
        equal = next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(known), len(token_ids)))
        return Alike(block, equal) if equal else None

    def forget(self, block: int) -> None:
        """Unknown blocks are fine."""
        digest = self._hash_of.pop(block, None)
        if digest is not None:
            del self._block_of[digest]
        place = self._place_of.pop(block, None)
        if place is not None:
            del self._first_at[place]

    def check_integrity(self) -> None:
        assert len(self._block_of) == len(self._hash_of)
        assert all(self._block_of[digest] == block for block, digest in self._hash_of.items())
        assert {place: block for place, (block, _) in self._first_at.items()} == {
            place: block for block, place in self._place_of.items()
        }
        assert self._place_of.keys() <= self._hash_of.keys()
