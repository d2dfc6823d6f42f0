"""Every quantised type is decoded exactly as the gguf library decodes it."""

import gguf
import numpy as np
import pytest
import torch

from appliance.engine.checkpoint.dtypes import STORAGE_TYPES
from appliance.engine.load.dequant import TYPES, dequantise

QUANTISED = [name for name, storage in STORAGE_TYPES.items() if not storage.torch_name]
BY_LIBRARY = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"]
# Where the float16 scales of a block lie; any other bytes are valid.
SCALES = {"Q4_K": (0, 4), "Q5_K": (0, 4), "Q6_K": (208, 210)}


def test_every_type_of_the_border_is_decoded() -> None:
    assert sorted(TYPES) == sorted(QUANTISED)


@pytest.mark.parametrize("shape", [(1, 256), (7, 512), (130, 768)])
@pytest.mark.parametrize("kind", QUANTISED)
def test_values_equal_the_library(kind: str, shape: tuple[int, int]) -> None:
    content = random_content(kind, shape, seed=shape[0])
    expected = gguf.quants.dequantize(content, gguf.GGMLQuantizationType[kind])
    decoded = dequantise(torch.from_numpy(content), kind, torch.float32)
    assert decoded.shape == shape
    np.testing.assert_array_equal(decoded.numpy(), expected)


@pytest.mark.parametrize("kind", QUANTISED)
def test_narrower_dtypes_round_once(kind: str) -> None:
    content = torch.from_numpy(random_content(kind, (3, 512), seed=1))
    exact = dequantise(content, kind, torch.float32)
    for dtype in (torch.bfloat16, torch.float16):
        assert torch.equal(dequantise(content, kind, dtype), exact.to(dtype))


def test_many_blocks_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appliance.engine.load.dequant.CHUNK", 1 << 8)
    monkeypatch.setattr("appliance.engine.load.dequant.STRIPE", 1 << 10)
    content = torch.from_numpy(random_content("Q4_1", (33, 416), seed=2))
    assert torch.equal(
        dequantise(content, "Q4_1", torch.float32, workers=3), dequantise(content, "Q4_1", torch.float32)
    )


def random_content(kind: str, shape: tuple[int, int], seed: int) -> np.ndarray:
    """uint8 [rows, row bytes]"""
    random = np.random.default_rng(seed)
    if kind in BY_LIBRARY:
        values = random.standard_normal(shape).astype(np.float32)
        return np.ascontiguousarray(gguf.quants.quantize(values, gguf.GGMLQuantizationType[kind]))
    storage = STORAGE_TYPES[kind]
    blocks = random.integers(0, 256, (shape[0] * shape[1] // storage.block, storage.block_bytes), dtype=np.uint8)
    first, last = SCALES[kind]
    scales = random.standard_normal((len(blocks), (last - first) // 2)).astype(np.float16)
    blocks[:, first:last] = scales.view(np.uint8)
    return blocks.reshape(shape[0], -1)
