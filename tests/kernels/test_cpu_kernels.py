"""The compiled CPU kernels against float64, as built for this CPU and as built for the oldest one of its kind."""

import ctypes
import platform
import shutil
from pathlib import Path

import pytest
import torch

from appliance.engine.layers import compiled_product
from appliance.engine.layers.heads import HeadLayout
from appliance.engine.layers.linear import best_product
from appliance.engine.layers.norm import HeadNorm
from appliance.engine.layers.ops import EagerOps
from appliance.engine.layers.ops.compiled import CompiledOps
from appliance.engine.layers.parameters import Parameters
from appliance.engine.runner.batch import Batch
from appliance.engine.runner.compiled_attention import CompiledAttention, CompiledKernels
from appliance.engine.runner.kv_pool import KVPool
from appliance.kernels.cpu import build, library, prebuilt
from appliance.kernels.cpu.instructions import instructions
from appliance.kernels.kv import kv_format

DTYPES = [torch.float32, torch.bfloat16, torch.float16]
OLDEST = {"x86_64": "-march=x86-64-v2"}.get(platform.machine(), "-O2")


@pytest.fixture(scope="module", params=["native", "oldest"])
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> library.Library:
    """The second one has neither the wide vectors nor the bfloat16 products."""
    if request.param == "native":
        found = library.library()
        assert found is not None
        return found
    made = tmp_path_factory.mktemp("cache") / "cpu.so"
    build.build(made, flags=tuple(OLDEST if flag == "-march=native" else flag for flag in build.FLAGS))
    return library.Library(made)


def close(seen: torch.Tensor, expected: torch.Tensor) -> None:
    exact = torch.finfo(seen.dtype).eps
    torch.testing.assert_close(seen.double(), expected, rtol=2 * exact, atol=4 * exact)


def normed(rows: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    rows = rows.double()
    return rows / (rows.square().mean(-1, keepdim=True) + eps).sqrt() * weight.double()


@pytest.mark.parametrize("rows", [1, 3, 90])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_norms(compiled: library.Library, dtype: torch.dtype, rows: int) -> None:
    ops = CompiledOps(compiled, dtype)
    random = torch.Generator().manual_seed(rows)
    hidden, delta = torch.randn(2, rows, 576, generator=random).mul(3).to(dtype)
    weight = torch.randn(576, generator=random)
    close(ops.rms_norm(hidden, weight, 1e-5), normed(hidden, weight, 1e-5))
    added = (hidden.double() + delta.double()).to(dtype)
    close(ops.add_rms_norm(hidden, delta, weight, 1e-5), normed(added, weight, 1e-5))
    assert torch.equal(hidden, added)


@pytest.mark.parametrize("columns", [64, 70, 200])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_products(dtype: torch.dtype, columns: int) -> None:
    """Right, and every row the same alone as among others."""
    random = torch.Generator().manual_seed(columns)
    inputs = torch.randn(133, 96, generator=random).to(dtype)
    weight, bias = (
        torch.randn(columns, 96, generator=random).to(dtype),
        torch.randn(columns, generator=random).to(dtype),
    )
    packed, product = best_product(weight)
    seen = product(inputs, packed, bias)
    exact = torch.finfo(dtype).eps
    expected = inputs.double() @ weight.double().T + bias.double()
    torch.testing.assert_close(seen.double(), expected, rtol=2 * exact, atol=256 * exact)
    assert torch.equal(seen, product(inputs, packed, bias))
    if compiled_product.usable(weight):
        for rows in (1, 5, 8, 97):
            assert torch.equal(product(inputs[:rows], packed, bias), seen[:rows])


@pytest.mark.parametrize("activation", ["silu", "gelu_tanh"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gates(compiled: library.Library, dtype: torch.dtype, activation: str) -> None:
    random = torch.Generator().manual_seed(1)
    both = torch.randn(40, 2 * 96, generator=random).mul(8).to(dtype)
    both[0, :4] = torch.tensor([300.0, -300.0, 90.0, -90.0])
    expected = EagerOps().gate(activation, both.double())
    close(CompiledOps(compiled, dtype).gate(activation, both), expected)


@pytest.mark.parametrize("head_dim", [16, 80, 128, 256])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_heads_are_placed_and_attend(compiled: library.Library, dtype: torch.dtype, head_dim: int) -> None:
    """Normalised, turned and stored in scattered blocks; then all rows, and some alone, against one dense softmax."""
    random = torch.Generator().manual_seed(head_dim)
    heads, kv_heads, tokens = 6, 2, 150
    parameters = Parameters(torch.float32)
    layout = HeadLayout(heads, kv_heads, head_dim, HeadNorm(parameters, heads, kv_heads, head_dim, 1e-6))
    parameters.fill([(f"{n}_norm.weight", torch.rand(head_dim, generator=random) + 0.5) for n in "qk"])
    qkv = torch.randn(tokens, (heads + 2 * kv_heads) * head_dim, generator=random).to(dtype)
    angles = torch.rand(tokens, 1, head_dim // 2, generator=random).repeat(1, 1, 2)
    sign = torch.ones(head_dim).index_fill_(0, torch.arange(head_dim // 2), -1.0)
    rotation = torch.stack((angles.cos(), angles.sin() * sign), 1).unbind(1)
    name = library.NAMES[dtype]
    pool = KVPool(kv_format(name), 1, 40, 4, kv_heads, head_dim)
    pool.layers[0].fill_(0xFF)
    table = torch.randperm(40, generator=random)[:38].tolist()
    at = torch.arange(tokens)
    empty = torch.zeros(0, dtype=torch.int64)
    batch = Batch(at, at, torch.tensor(table)[at // 4] * 4 + at % 4, [0, tokens], [tokens], [table], 0, empty)
    context = CompiledAttention(CompiledKernels(compiled, dtype, name), pool, batch)
    seen = context.attend(0, qkv, layout, rotation, scale=0.2, window=70, softcap=20.0)
    key, value = pool.gather(0, torch.tensor([table]), torch.float64)
    query, expected_key, expected_value = exact_heads(layout, qkv, rotation)
    close(key[0, :, :tokens].transpose(0, 1).to(dtype), expected_key)
    close(value[0, :, :tokens].transpose(0, 1).to(dtype), expected_value)
    keys, values = key[0, :, :tokens].repeat_interleave(3, 0), value[0, :, :tokens].repeat_interleave(3, 0)
    scores = torch.einsum("thd,hld->htl", query.to(dtype).double(), keys) * 0.2
    scores = torch.tanh(scores / 20.0) * 20.0
    hidden = (at > at[:, None]) | (at <= at[:, None] - 70)
    expected = torch.einsum("htl,hld->thd", scores.masked_fill(hidden, -torch.inf).softmax(-1), values)
    bound = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}[dtype]
    assert (seen.double() - expected.flatten(1)).abs().max() < bound
    some = torch.tensor([0, 69, 70, 71, 149])
    assert torch.equal(
        context.attend(0, qkv, layout, rotation, scale=0.2, window=70, softcap=20.0, rows=some), seen[some]
    )


def exact_heads(layout, qkv, rotation):
    by_head = qkv.double().view(len(qkv), -1, layout.head_dim)
    cos, sin = (part.double() for part in rotation)
    queries, keys, values = by_head.split((layout.heads, layout.kv_heads, layout.kv_heads), 1)
    turned = []
    for part, weight in zip((queries, keys), layout.norm.weights(), strict=True):
        part = normed(part, weight, layout.norm.eps)
        turned.append(part * cos + part.roll(layout.head_dim // 2, -1) * sin)
    return *turned, values


def test_a_compiler_is_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = build.library_file(tmp_path)
    monkeypatch.setattr(build, "_compile", None)
    assert build.library_file(tmp_path) == made
    ctypes.CDLL(str(made))


@pytest.mark.parametrize(("compiler", "said"), [
    (None, "no C\\+\\+ compiler is installed"),
    ("false", "false failed: exit code 1"),
    ("/nonexistent/g++", "cannot be run"),
])  # fmt: skip
def test_what_prevents_a_build_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str | None, said: str
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(build.CannotBuildError, match=said):
        build.library_file(tmp_path, compiler)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "kernels").write_text("a file, no folder")
    with pytest.raises(build.CannotBuildError, match="cannot be written"):
        build.library_file(tmp_path)


def test_a_prebuilt_library_is_taken_by_what_the_cpu_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in prebuilt.KINDS:
        (tmp_path / f"{name}.so").touch()
    monkeypatch.setenv("APPLIANCE_KERNELS", str(tmp_path))
    for name, kind in prebuilt.KINDS.items():
        assert prebuilt.prebuilt_file(kind.needs) == tmp_path / f"{name}.so"
    assert prebuilt.prebuilt_file(frozenset({"sse4_2"})) is None
    monkeypatch.delenv("APPLIANCE_KERNELS")
    assert prebuilt.prebuilt_file(prebuilt.V4) is None


def test_libraries_are_built_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert prebuilt.main(tmp_path / "kernels", "x86-64-v3") == 0
    monkeypatch.setenv("APPLIANCE_KERNELS", str(tmp_path / "kernels"))
    found = prebuilt.prebuilt_file(prebuilt.V3)
    assert found is not None
    if instructions() >= prebuilt.V3:
        CompiledOps(library.Library(found), torch.float32)


def test_without_a_library_pytorch_serves(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(*_: object) -> Path:
        raise build.CannotBuildError("no C++ compiler is installed")

    monkeypatch.setattr(library, "library_file", refuse)
    assert library.library.__wrapped__() is None
    assert "no C++ compiler is installed" in caplog.text
