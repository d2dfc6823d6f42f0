"""Who holds which block of the KV pool. Free blocks that are worth keeping wait in order of last use."""

from collections import Counter, OrderedDict
from collections.abc import Iterable

from appliance.engine.core.prefix_cache import PrefixCache


class BlockManager:
    """Every block is blank (free, nothing of use in it), cached (free, but found by its hash) or held by requests."""

    def __init__(self, num_blocks: int, cache: PrefixCache) -> None:
        self.num_blocks = num_blocks
        self._cache = cache
        self._references = [0] * num_blocks
        self._blank = list(range(num_blocks - 1, -1, -1))
        self._cached: OrderedDict[int, None] = OrderedDict()

    @property
    def num_free(self) -> int:
        return len(self._blank) + len(self._cached)

    @property
    def num_held(self) -> int:
        return self.num_blocks - self.num_free

    def is_held(self, block: int) -> bool:
        return self._references[block] > 0

    def allocate(self) -> int:
        """A block for one owner; the least recently used cached one once no blank is left."""
        if self._blank:
            block = self._blank.pop()
        else:
            block, _ = self._cached.popitem(last=False)
            self._cache.forget(block)
        assert self._references[block] == 0
        self._references[block] = 1
        return block

    def share(self, block: int) -> None:
        """One more owner for a block found in the prefix cache."""
        if self._references[block] == 0:
            del self._cached[block]
        self._references[block] += 1

    def release(self, block_table: list[int]) -> None:
        """One owner less, last block first, so that the head of a prefix outlives its tail."""
        for block in reversed(block_table):
            self._references[block] -= 1
            assert self._references[block] >= 0, f"block {block} was released twice"
            if self._references[block] == 0:
                if block in self._cache:
                    self._cached[block] = None
                else:
                    self._blank.append(block)

    def drop(self, block: int) -> None:
        """What the cache said about this block is void."""
        self._cache.forget(block)
        if block in self._cached:
            del self._cached[block]
            self._blank.append(block)

    def drop_cached(self) -> None:
        """Forgets every cached block that no request holds."""
        for block in list(self._cached):
            self.drop(block)

    def check_integrity(self, block_tables: Iterable[list[int]]) -> None:
        """`block_tables` of all requests that hold blocks."""
        owners: Counter[int] = Counter()
        for table in block_tables:
            assert len(set(table)) == len(table), f"a block twice in one table: {table}"
            owners.update(table)
        assert self._references == [owners[block] for block in range(self.num_blocks)]
        free = [*self._blank, *self._cached]
        assert len(free) == len(set(free)), "a block is free twice"
        assert {*free, *owners} == set(range(self.num_blocks)), "a block is lost"
        assert len(free) + len(owners) == self.num_blocks, "a block is free and held"
        assert all(block in self._cache for block in self._cached)
        assert not any(block in self._cache for block in self._blank)
        assert all(block in self._cache for block, count in owners.items() if count > 1), "a block is shared unhashed"
        self._cache.check_integrity()
