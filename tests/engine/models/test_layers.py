"""Layers alone: packed products, weights by name, rotary tables."""

import pytest
import torch

from appliance.engine.checkpoint.config import RopeConfig
from appliance.engine.layers import onednn
from appliance.engine.layers.linear import Linear
from appliance.engine.layers.norm import HeadNorm, RMSNorm
from appliance.engine.layers.parameters import Parameters
from appliance.engine.layers.rotary import Rotary, rotate

CPU_DTYPES = [torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", CPU_DTYPES)
@pytest.mark.parametrize("rows", [0, 1, 3, 33])
def test_one_product_of_three_matrices(rows: int, dtype: torch.dtype) -> None:
    """Weights arrive in any order; inputs may be windows of wider tensors."""
    random = torch.Generator().manual_seed(rows)
    parts = {name: torch.randn(size, 24, generator=random).to(dtype) for name, size in (("q", 20), ("k", 7), ("v", 5))}
    biases = {name: torch.randn(len(part), generator=random).to(dtype) for name, part in parts.items()}
    parameters = Parameters(dtype)
    linear = Linear(parameters, 24, {name: len(part) for name, part in parts.items()}, bias=True)
    weights = {f"{name}.weight": part for name, part in parts.items()}
    weights |= {f"{name}.bias": bias for name, bias in biases.items()}
    parameters.fill(reversed(weights.items()))
    inputs = torch.randn(rows, 48, generator=random).to(dtype)[:, 24:]
    expected = torch.cat([inputs.double() @ parts[name].double().T + biases[name].double() for name in "qkv"], 1)
    seen = linear(inputs)
    assert seen.dtype == dtype
    exact = torch.finfo(dtype).eps
    torch.testing.assert_close(seen.double(), expected, rtol=4 * exact, atol=32 * exact)


def test_plain_product_where_the_packed_one_is_not_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = torch.randn(9, 4)
    outcomes = []
    for usable in (True, False):
        monkeypatch.setattr(onednn, "usable", lambda _, usable=usable: usable)
        parameters = Parameters(torch.float32)
        linear = Linear(parameters, 4, {"o": 9})
        parameters.fill([("o.weight", weight)])
        outcomes.append(linear(torch.ones(2, 4)))
    torch.testing.assert_close(*outcomes)


def test_weights_are_refused_by_name() -> None:
    parameters = Parameters(torch.float32)
    under = parameters.under("body")
    under.empty("a", 2)
    under.packed({"b": 1, "c": 2}, 3)
    given = [
        ("body.a", torch.ones(2)),
        ("body.a", torch.zeros(2)),
        ("body.b", torch.ones(3, 1)),
        ("x", torch.ones(1)),
    ]
    with pytest.raises(ValueError, match=r"repeated tensors: body\.a") as caught:
        parameters.fill(given)
    assert "misshapen tensors: body.b is [3, 1], the configuration says [1, 3]" in str(caught.value)
    assert "unknown tensors: x" in str(caught.value)
    assert "missing tensors: body.c" in str(caught.value)


def test_gemma_norm_keeps_small_weights_in_float32() -> None:
    """1 + w in bfloat16 would lose w = 0.001."""
    parameters = Parameters(torch.bfloat16)
    norm = RMSNorm(parameters, 64, 1e-6, offset=True)
    parameters.fill([("weight", torch.full((64,), 0.001).bfloat16())])
    hidden = torch.randn(5, 64).bfloat16()
    exact = hidden.double() * (hidden.double().square().mean(-1, keepdim=True) + 1e-6).rsqrt()
    assert torch.equal(norm(hidden), (exact * (1 + torch.tensor(0.001).bfloat16().double())).bfloat16())


def test_head_norm_weighs_queries_and_keys_apart() -> None:
    parameters = Parameters(torch.float32)
    norm = HeadNorm(parameters, 3, 1, 8, 1e-6)
    parameters.fill([("q_norm.weight", torch.full((8,), 2.0)), ("k_norm.weight", torch.full((8,), 5.0))])
    lengths = norm(torch.randn(4, 4, 8)).square().mean(-1).sqrt()
    torch.testing.assert_close(lengths, torch.tensor([2.0, 2.0, 2.0, 5.0]).expand(4, 4), rtol=1e-4, atol=1e-4)


def test_rotation_depends_on_distance_alone() -> None:
    rotary = Rotary(RopeConfig(theta=100.0), 16, torch.float32)
    query, key = torch.randn(2, 1, 1, 16, generator=torch.Generator().manual_seed(0))

    def score(at: int, back: int) -> float:
        turned = [rotate(x, rotary(torch.tensor([p]))) for x, p in ((query, at), (key, at - back))]
        return float((turned[0] * turned[1]).sum())

    assert score(900, 7) == pytest.approx(score(20, 7), abs=1e-3)
    assert score(5000, 7) == pytest.approx(score(20, 7), abs=1e-2)
    assert score(20, 3) != pytest.approx(score(20, 7), abs=1e-3)
