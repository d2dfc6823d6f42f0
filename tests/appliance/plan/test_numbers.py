"""Number formats: every rule of dtype and of the KV cache's default."""

from dataclasses import replace

import pytest
from checkpoint_shapes import make_checkpoint
from plan_inputs import machine, make_profile

from appliance.diagnostics import ApplianceError
from appliance.plan import make_plan
from appliance.plan.errors import Refusals
from appliance.plan.machine import choose_machine
from appliance.plan.numbers import default_dtype, default_kv_dtype


def on(name: str, **profile: object) -> object:
    return choose_machine(make_profile({"hardware": profile}), machine(name), True, Refusals())


def test_glm5_on_blackwell_defaults_to_fp8() -> None:
    value, reason = default_kv_dtype("GlmMoeDsaForCausalLM", on("b200x8"), "bfloat16")
    assert (value, reason) == ("fp8_e4m3", "GlmMoeDsaForCausalLM on sm100 defaults to it since 0.32")


@pytest.mark.parametrize("name", ["h100x8", "mi355x8", "rtx5090", "cpu-64c-256g"])
def test_glm5_elsewhere_follows_the_model(name: str) -> None:
    assert default_kv_dtype("GlmMoeDsaForCausalLM", on(name), "bfloat16") == ("bfloat16", "the model's dtype")


def test_a_default_that_this_release_lacks_is_refused_not_replaced() -> None:
    checkpoint = make_checkpoint("llama-3-8b")
    checkpoint = replace(checkpoint, config=replace(checkpoint.config, architecture="GlmMoeDsaForCausalLM"))
    with pytest.raises(ApplianceError, match=r'AP0405.*"fp8_e4m3" is not a KV format of this release'):
        make_plan(make_profile(), machine("b200x8"), checkpoint, forecast=True)
    written = make_profile({"kv_cache": {"dtype": "bfloat16"}})
    assert make_plan(written, machine("b200x8"), checkpoint, forecast=True).engine.kv_dtype == "bfloat16"


@pytest.mark.parametrize(
    ("stored", "name", "dtype"),
    [
        ("float32", "cloud-2c-24g", "float32"),
        ("bfloat16", "cloud-2c-24g", "bfloat16"),
        ("bfloat16", "container-4c-8g", "float32"),
        ("bfloat16", "arm-64c-128g", "bfloat16"),
        ("float16", "cloud-2c-24g", "float32"),
        ("float16", "arm-64c-128g", "float16"),
        ("float16", "sapphire-fp16", "float16"),
        ("Q8_0", "sapphire-fp16", "bfloat16"),
        ("Q6_K", "laptop-avx2-16g", "float32"),
        ("float16", "l4", "float16"),
        ("Q4_0", "mi300x8", "bfloat16"),
    ],
)
def test_auto_dtype(stored: str, name: str, dtype: str) -> None:
    value, reason = default_dtype(stored, on(name))
    assert value == dtype
    assert ("as stored" in reason) == (stored == dtype)


def test_a_boot_stays_on_the_cpu_where_the_engine_cannot_use_the_accelerator() -> None:
    plan = make_plan(make_profile(), machine("h100-mig"), make_checkpoint("smollm2-135m"))
    assert plan.engine.device == "cpu"
    reasons = {value.path: value.reason for value in plan.values}
    assert reasons["hardware.platform"].endswith("NVIDIA H100 80GB HBM3 MIG 3g.40gb is left unused")
    with pytest.raises(ApplianceError, match="AP0407"):
        make_plan(
            make_profile({"hardware": {"platform": "cuda"}}), machine("h100-mig"), make_checkpoint("smollm2-135m")
        )
