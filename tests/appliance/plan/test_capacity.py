"""How many tokens fit: against theory, against the budget for any sizes, and at the edge of what fits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checkpoint_shapes import SHAPES, make_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_inputs import machine, make_profile
from safetensors.numpy import save_file

from appliance.diagnostics import ApplianceError
from appliance.engine.lora.stored import WEIGHTS
from appliance.plan import Plan, make_plan
from appliance.profile.types import Tokens

GIB = 2**30


@pytest.mark.parametrize(
    ("name", "dtype", "per_gib"),
    [
        # 2 (K and V) x layers x kv heads x head size x bytes; whole blocks of 16 tokens.
        ("smollm2-135m", "bfloat16", GIB // (2 * 30 * 3 * 64 * 2 * 16) * 16),
        ("smollm2-135m", "float32", GIB // (2 * 30 * 3 * 64 * 4 * 16) * 16),
        ("llama-3-8b", "bfloat16", 8192),
        ("llama-3-8b", "float16", 8192),
        ("qwen3-32b", "bfloat16", 4096),
        ("qwen3-32b", "float32", 2048),
    ],
)
def test_tokens_per_gib_are_the_theory(name: str, dtype: str, per_gib: int) -> None:
    profile = make_profile({"kv_cache": {"dtype": dtype, "size": "1GiB"}, "model": {"max_context": 1024}})
    plan = make_plan(profile, machine("cpu-64c-256g"), make_checkpoint(name))
    assert plan.memory.kv_tokens == plan.engine.num_blocks * 16 == per_gib


def parts(plan: Plan) -> int:
    memory = plan.memory
    return memory.weights + memory.processes + memory.workspace + memory.gathered + memory.kv_pool


@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(sorted(SHAPES)),
    stored=st.sampled_from(["BF16", "F16", "F32", "Q4_K"]),
    place=st.sampled_from(["cpu-4c-16g", "cpu-64c-256g", "container-4c-8g", "l4", "h100x1", "mi355x8"]),
    fraction=st.floats(0.01, 1.0),
    used=st.floats(0.0, 1.0),
    context=st.just("auto") | st.integers(1, 50_000),
    size=st.just("auto") | st.integers(1, 200 * GIB) | st.integers(1, 10**7).map(Tokens),
    block=st.sampled_from([1, 8, 16, 48, 256]),
    sequences=st.just("auto") | st.integers(1, 2000),
    batch=st.just("auto") | st.integers(1, 20_000),
    chunked=st.booleans(),
)
def test_never_promises_more_than_the_budget(
    name: str,
    stored: str,
    place: str,
    fraction: float,
    used: float,
    context: object,
    size: object,
    block: int,
    sequences: object,
    batch: object,
    chunked: bool,
) -> None:
    tree = {
        "model": {"max_context": context},
        "hardware": {"memory_fraction": fraction},
        "kv_cache": {"block_tokens": block},
        "engine": {"batching": {"max_sequences": sequences, "max_tokens": batch, "chunked_prefill": chunked}},
    }
    profile = make_profile(tree)
    profile = profile.model_copy(update={"kv_cache": profile.kv_cache.model_copy(update={"size": size})})
    hardware = machine(place)
    hardware = replace(
        hardware,
        memory_available=int(hardware.memory * used),
        accelerators=tuple(replace(device, free=int(device.memory * used)) for device in hardware.accelerators),
    )
    try:
        plan = make_plan(profile, hardware, make_checkpoint(name, stored), forecast=True)
    except ApplianceError as error:
        assert [found.code[:4] for found in error.diagnostics] == ["AP04"]
        assert all(found.fix for found in error.diagnostics)
        return
    memory, engine = plan.memory, plan.engine
    assert parts(plan) + memory.spare == memory.budget
    assert memory.spare >= 0
    assert memory.budget <= fraction * memory.memory
    assert memory.kv_pool == engine.num_blocks * memory.kv_bytes_per_block
    assert engine.num_blocks * block >= engine.max_context
    assert memory.kv_tokens <= memory.kv_tokens_that_fit
    assert memory.full_sequences >= 1
    assert engine.max_batch_tokens >= engine.max_sequences
    assert chunked or engine.max_batch_tokens >= engine.max_context
    if context != "auto":
        assert engine.max_context == context
    if isinstance(size, int):
        assert size - memory.kv_bytes_per_block < memory.kv_pool <= size


def test_the_largest_context_fits_and_a_longer_one_does_not() -> None:
    hardware, checkpoint = machine("laptop-avx2-16g"), make_checkpoint("qwen3-0.6b")
    largest = make_plan(make_profile(), hardware, checkpoint).engine.max_context
    assert largest < 40960
    written = make_plan(make_profile({"model": {"max_context": largest}}), hardware, checkpoint)
    assert written.engine.max_context == largest
    with pytest.raises(ApplianceError, match=f"the largest context that fits is {largest:,}"):
        make_plan(make_profile({"model": {"max_context": largest + 1}}), hardware, checkpoint)


@pytest.mark.parametrize(
    ("name", "place", "copies"),
    [("smollm2-135m", "cloud-2c-24g", 1), ("llama-3-8b", "cpu-16c-64g", 0), ("smollm2-135m", "h100x1", 0)],
)
def test_a_tied_head_on_a_cpu_holds_its_weights_twice(name: str, place: str, copies: int) -> None:
    checkpoint = make_checkpoint(name)
    memory = make_plan(make_profile(), machine(place), checkpoint, forecast=True).memory
    assert memory.head_copy == copies * checkpoint.config.vocab_size * checkpoint.config.hidden_size * 2
    assert memory.weights == sum(tensor.elements for tensor in checkpoint.tensors) * 2 + memory.head_copy


def test_whole_prompts_fit_the_memory_with_the_step_they_need() -> None:
    """A step of the model's whole context would not fit; the largest context with a step of its own size does."""
    whole = make_profile({"engine": {"batching": {"chunked_prefill": False}}})
    engine = make_plan(whole, machine("cpu-4c-16g"), make_checkpoint("qwen3-0.6b")).engine
    pieces = make_plan(make_profile(), machine("cpu-4c-16g"), make_checkpoint("qwen3-0.6b")).engine
    assert engine.max_batch_tokens == engine.max_context > 512
    assert engine.max_context < pieces.max_context
    small = make_profile({"model": {"max_context": 300}, "engine": {"batching": {"chunked_prefill": False}}})
    assert make_plan(small, machine("cpu-4c-16g"), make_checkpoint("qwen3-0.6b")).engine.max_batch_tokens == 512


def test_the_forecast_of_the_boot_is_near_what_was_measured() -> None:
    plan = make_plan(make_profile(), machine("cloud-2c-24g"), make_checkpoint("smollm2-135m", "Q4_1"))
    assert 3.5 <= plan.boot_seconds <= 4.5


def test_equal_inputs_give_equal_plans_and_hashes() -> None:
    one, two = (make_plan(make_profile(), machine("cloud-2c-24g"), make_checkpoint("smollm2-135m")) for _ in range(2))
    assert one == two
    other = make_plan(
        make_profile({"limits": {"schema_depth": 9}}), machine("cloud-2c-24g"), make_checkpoint("smollm2-135m")
    )
    assert other.hash != one.hash
    moved = make_plan(
        make_profile(), machine("cloud-2c-24g"), make_checkpoint("smollm2-135m"), address="ipc://b", generation=2
    )
    assert moved.hash == one.hash
    assert (moved.engine.address, *moved.server.engine_addresses, moved.engine.generation) == ("ipc://b", "ipc://b", 2)


def test_sliding_layers_are_counted_whole_and_their_excess_is_named() -> None:
    plan = make_plan(make_profile(), machine("cpu-16c-64g"), make_checkpoint("gemma-3-1b"))
    assert plan.memory.kv_bytes_per_token == 26 * 1 * 2 * 256 * 2
    assert plan.memory.sliding_layers == 22
    assert plan.memory.sliding_excess == 22 * (32768 - 512) * 2 * 256 * 2


def test_adapters_take_their_part(tmp_path: Path) -> None:
    folder, asked = tmp_path / "a", {"model": {"adapters": [{"name": "a", "source": str(tmp_path / "a")}]}}
    folder.mkdir()
    sides = {"x.lora_A.weight": (16, 1000), "x.lora_B.weight": (3000, 16)}
    save_file({name: np.zeros(shape, np.float16) for name, shape in sides.items()}, folder / WEIGHTS)
    plain, tuned = (
        make_plan(make_profile(asked), machine("cloud-2c-24g"), make_checkpoint("smollm2-135m"), adapters=adapters)
        for adapters in ({}, {"a": folder})
    )
    assert tuned.memory.adapters == 16 * (1000 + 3000) * 2
    assert plain.memory.spare - tuned.memory.spare == tuned.memory.adapters == tuned.needed - plain.needed
    assert tuned.hash == plain.hash, "room is there: the pool stays, and an edit of adapters touches no engine"
    (folder / WEIGHTS).write_bytes(b"cut")
    with pytest.raises(ApplianceError) as error:
        make_plan(make_profile(asked), machine("cloud-2c-24g"), make_checkpoint("smollm2-135m"), adapters={"a": folder})
    (found,) = error.value.diagnostics
    assert (found.code, found.path) == ("AP0410", "model.adapters[0].source")
