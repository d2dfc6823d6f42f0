"""A request's share of the KV pool: found prefixes, growth, publication of full blocks, release."""

from appliance.engine.core.block_manager import BlockManager
from appliance.engine.core.prefix_cache import Alike, Place, PrefixCache, block_hash, root_hash
from appliance.engine.core.request import RequestState


class KVCache:
    """Blocks are published when they are scheduled, not when they are computed: within a layer every key and value of
    a step is stored before attention reads, so requests of one step may share what one of them computes.
    """

    def __init__(self, num_blocks: int, block_tokens: int) -> None:
        self.block_tokens = block_tokens
        self.prefix_caching = True
        self._cache = PrefixCache()
        self.blocks = BlockManager(num_blocks, self._cache)
        self._fresh: list[int] = []
        self._lent: list[int] = []

    @property
    def num_cached_blocks(self) -> int:
        """Blocks findable by their content, held ones included."""
        return len(self._cache)

    def use_prefix_cache(self, use: bool) -> None:
        """Between two steps. Unused, what no request holds is forgotten, and what some hold with its release."""
        self.prefix_caching = use
        if not use:
            self.blocks.drop_cached()

    def blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.block_tokens)

    def begin_step(self) -> None:
        self._fresh.clear()

    def discard_step(self) -> None:
        """The step failed: what it was to write into published blocks is not there."""
        for block in self._fresh:
            self.blocks.drop(block)
        self._fresh.clear()

    def end_step(self) -> None:
        """The step has run, or failed: what was copied from is needed no longer."""
        self.blocks.release(self._lent)
        self._lent.clear()

    def match(self, request: RequestState) -> list[int]:
        """Blocks that hold the request's first tokens; never its last token, whose logits are wanted."""
        found: list[int] = []
        while (digest := self.hash_after(request, len(found))) is not None:
            block = self._cache.find(digest)
            if block is None:
                break
            found.append(block)
        return found

    def alike(self, request: RequestState, blocks: int) -> Alike | None:
        """What a block of the request's group has in common with its block behind the first `blocks` ones."""
        if not self.prefix_caching or not request.reads_cache or not request.group:
            return None
        first = blocks * self.block_tokens
        wanted = request.token_ids[first : min(first + self.block_tokens, len(request.token_ids) - 1)]
        return self._cache.alike(self._place(request, blocks), wanted)

    def hash_after(self, request: RequestState, blocks: int) -> bytes | None:
        """Hash of the block behind the first `blocks` ones; None where the request would not take it from the cache."""
        if not self.prefix_caching or not request.reads_cache:
            return None
        if blocks >= (len(request.token_ids) - 1) // self.block_tokens:
            return None
        return self._hash(request, blocks)

    def upcoming_hash(self, request: RequestState, tokens: int) -> bytes | None:
        """Hash of the first block not yet full once `tokens` tokens are computed; None if it will never be."""
        index = tokens // self.block_tokens
        if not self.prefix_caching or index >= len(request.token_ids) // self.block_tokens:
            return None
        return self._hash(request, index)

    def attach(self, request: RequestState, found: list[int], alike: Alike | None = None) -> None:
        """`alike` is lent until the step's end: its block is not given away before it has been copied from."""
        assert not request.block_table
        for block in found:
            self.blocks.share(block)
        request.block_table.extend(found)
        request.num_published = len(found)
        request.num_computed = len(found) * self.block_tokens
        if alike is not None:
            self.blocks.share(alike.block)
            self._lent.append(alike.block)
            request.copy_from = alike.block
            request.num_computed += alike.tokens

    def grow(self, request: RequestState, tokens: int) -> bool:
        """Makes the table cover `tokens` tokens; False, and nothing changes, where the pool lacks the blocks."""
        missing = self.blocks_for(tokens) - len(request.block_table)
        if missing <= 0:
            return True
        if missing > self.blocks.num_free:
            return False
        request.block_table.extend(self.blocks.allocate() for _ in range(missing))
        return True

    def publish(self, request: RequestState, tokens: int) -> None:
        """Every block that the first `tokens` tokens fill can be found from now on."""
        if not self.prefix_caching:
            return
        for index in range(request.num_published, tokens // self.block_tokens):
            block = request.block_table[index]
            if self._cache.register(self._hash(request, index), block):
                self._fresh.append(block)
                if request.group:
                    first = index * self.block_tokens
                    content = request.token_ids[first : first + self.block_tokens]
                    self._cache.settle(self._place(request, index), block, content)
            request.num_published = index + 1

    def release(self, request: RequestState) -> None:
        self.blocks.release(request.block_table)
        if not self.prefix_caching:
            self.blocks.drop_cached()
        request.block_table = []
        request.num_published = 0
        request.num_computed = 0

    def _place(self, request: RequestState, index: int) -> Place:
        return request.owner, request.group, self._hash(request, index - 1)

    def _hash(self, request: RequestState, index: int) -> bytes:
        """Of a full block and all before it; of none for -1."""
        if index < 0:
            return root_hash(request.cache_salt, request.adapter_fingerprint)
        hashes, size = request.hashes, self.block_tokens
        while len(hashes) <= index:
            start = len(hashes) * size
            parent = hashes[-1] if hashes else self._hash(request, -1)
            hashes.append(block_hash(parent, request.token_ids[start : start + size]))
        return hashes[index]
