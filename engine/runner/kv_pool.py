"""The bytes of the paged KV cache: a tensor per layer, addressed by block or slot (block * block_tokens + offset)."""

import torch

from appliance.kernels.kv.base import KVFormat


class KVPool:
    """uint8 [num_blocks, block_tokens, kv_heads, content_bytes] per layer; the format knows what the bytes mean."""

    def __init__(
        self, kv_format: KVFormat, num_layers: int, num_blocks: int, block_tokens: int, num_kv_heads: int, head_dim: int
    ) -> None:
        self.format = kv_format
        self.block_tokens = block_tokens
        self.num_kv_heads = num_kv_heads
        self.head_dim = head_dim
        shape = (num_blocks, block_tokens, num_kv_heads, kv_format.content_bytes(head_dim))
        self.layers = [torch.empty(shape, dtype=torch.uint8) for _ in range(num_layers)]

    def store(self, layer: int, slot_mapping: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        """key, value [T, kv_heads, head_dim] to the T slots of `slot_mapping` (int64)."""
        content = self.format.encode(key, value).flatten(1)
        slots = self._slots(layer)
        slots.index_copy_(0, slot_mapping, content.view(slots.dtype))

    def copy(self, layer: int, copies: tuple[torch.Tensor, torch.Tensor] | None) -> None:
        """Between slots, as `Batch.copies` says."""
        if copies is not None:
            read, written = copies
            slots = self._slots(layer)
            slots.index_copy_(0, written, slots.index_select(0, read))

    def gather(
        self, layer: int, blocks: torch.Tensor, dtype: torch.dtype, hidden: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """int64 [S, B] block ids -> key, value [S, kv_heads, B * block_tokens, head_dim] (strided views of one copy).

        `hidden`: int64 positions of the S * B * block_tokens that nobody may see. They are zeroed, since a block may
        hold another request's NaN, which no mask keeps out of a weighted sum.
        """
        pool = self.layers[layer]
        content = pool.index_select(0, blocks.flatten())
        if hidden is not None:
            content.flatten(0, 1).index_fill_(0, hidden, 0)
        content = content.view(blocks.shape[0], -1, *pool.shape[2:])
        key, value = self.format.decode(content, self.head_dim, dtype)
        return key.transpose(1, 2), value.transpose(1, 2)

    def _slots(self, layer: int) -> torch.Tensor:
        """[slots, content of one]; as whole words where it can be, which are copied six times as fast as bytes."""
        slots = self.layers[layer].flatten(0, 1).flatten(1)
        return slots.view(torch.int64) if slots.shape[1] % 8 == 0 else slots

    @property
    def token_bytes(self) -> int:
        """Of one slot: all KV heads, keys and values."""
        return self.num_kv_heads * self.format.content_bytes(self.head_dim)

    @property
    def nbytes(self) -> int:
        return sum(layer.nbytes for layer in self.layers)
