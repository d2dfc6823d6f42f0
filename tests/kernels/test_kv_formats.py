"""Every KV format: facts load without torch, bytes are what the facts say, reading gives back what was written."""

import subprocess
import sys

import pytest
import torch

from appliance.kernels.kv import FORMATS, kv_format

# largest relative rounding error of one element
ROUNDING = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


@pytest.mark.parametrize("name", FORMATS)
def test_bytes_follow_the_facts(name):
    chosen = kv_format(name)
    encoded = chosen.encode(torch.randn(5, 3, 20), torch.randn(5, 3, 20))
    assert encoded.dtype == torch.uint8
    assert tuple(encoded.shape) == (5, 3, chosen.content_bytes(20))


@pytest.mark.parametrize("name", FORMATS)
def test_round_trip_is_within_rounding(name):
    chosen = kv_format(name)
    key, value = torch.randn(7, 2, 16), torch.randn(7, 2, 16)
    for read, written in zip(chosen.decode(chosen.encode(key, value), 16, torch.float32), (key, value), strict=True):
        assert ((read - written).abs() <= written.abs() * ROUNDING[name] + 1e-30).all()


@pytest.mark.parametrize("name", FORMATS)
def test_golden_bytes(name):
    golden = {"float32": "0000803f000000c0", "float16": "003c00c0", "bfloat16": "803f00c0"}[name]
    encoded = kv_format(name).encode(torch.tensor([[[1.0]]]), torch.tensor([[[-2.0]]]))
    assert bytes(encoded.flatten().tolist()).hex() == golden


def test_unknown_format_lists_the_known_ones():
    with pytest.raises(KeyError, match=r"fp9.*float32, float16, bfloat16"):
        kv_format("fp9")


def test_facts_need_no_torch():
    program = (
        "import sys; from appliance.kernels.kv import FORMATS, kv_format\n"
        "assert all(kv_format(name).content_bytes(64) > 0 for name in FORMATS); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
