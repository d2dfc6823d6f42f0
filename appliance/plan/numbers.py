"""Which number formats weights, activations and the KV cache have, and why."""

from dataclasses import dataclass

from appliance.engine.checkpoint import Checkpoint
from appliance.kernels.kv import FORMATS, kv_format
from appliance.kernels.kv.base import KVFormat
from appliance.profile import Profile

from .errors import Refusals
from .machine import Machine

DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
# CPU instruction sets that compute in the dtype; without one of them it is emulated, slower than float32.
CPU_COMPUTES = {
    "bfloat16": ("amx_bf16", "avx512_bf16", "svebf16", "bf16"),
    "float16": ("amx_fp16", "avx512_fp16", "asimdhp"),
}


@dataclass(frozen=True)
class KVDefault:
    """An architecture that has its own `auto` on one platform; `arch` is a prefix of the device architecture."""

    architecture: str
    platform: str
    arch: str
    dtype: str
    since: str


KV_DEFAULTS = (KVDefault("GlmMoeDsaForCausalLM", "cuda", "sm10", "fp8_e4m3", "0.32"),)


def default_dtype(stored: str, machine: Machine) -> tuple[str, str]:
    """`stored`: dtype of the checkpoint, or the GGUF name of a quantised type."""
    quantised = stored not in DTYPE_BYTES
    if machine.platform != "cpu":
        if quantised:
            return "bfloat16", f"the file's {stored} weights are widened at load"
        return stored, "as stored"
    wanted = "bfloat16" if quantised else stored
    found = next((name for name in CPU_COMPUTES.get(wanted, ()) if name in machine.features), None)
    if wanted == "float32":
        return wanted, "as stored"
    if found is not None:
        return wanted, f"{f'{stored} weights are widened at load' if quantised else 'as stored'}; the CPU has {found}"
    lacking = " or ".join(CPU_COMPUTES[wanted][:2])
    return "float32", f"{stored} weights are widened at load; a CPU without {lacking} computes {wanted} more slowly"


def default_kv_dtype(architecture: str, machine: Machine, dtype: str) -> tuple[str, str]:
    for row in KV_DEFAULTS:
        if row.architecture == architecture and row.platform == machine.platform and machine.arch.startswith(row.arch):
            return row.dtype, f"{architecture} on {machine.arch} defaults to it since {row.since}"
    return dtype, "the model's dtype"


def choose_dtype(profile: Profile, checkpoint: Checkpoint, machine: Machine, refusals: Refusals) -> tuple[str, str]:
    """Dtype of weights in memory and of activations."""
    stored = checkpoint.config.stored_dtype
    if profile.model.weights not in ("auto", "as-stored") or (
        profile.model.weights == "as-stored" and stored not in DTYPE_BYTES
    ):
        refusals.refuse(
            "AP0406",
            "model.weights",
            f'"{profile.model.weights}" would keep {stored} weights quantised in memory, which this release cannot',
            "write auto: the weights are widened at load",
        )
    if profile.model.dtype != "auto":
        return profile.model.dtype, "written in the profile"
    return default_dtype(stored, machine)


def choose_kv(
    profile: Profile, checkpoint: Checkpoint, machine: Machine, dtype: str, refusals: Refusals
) -> tuple[KVFormat, str]:
    name, reason = profile.kv_cache.dtype, "written in the profile"
    if name == "auto":
        name, reason = default_kv_dtype(checkpoint.config.architecture, machine, dtype)  # type: ignore[assignment]
    known = f"this release has {', '.join(FORMATS)}"
    if name not in FORMATS:
        refusals.refuse("AP0405", "kv_cache.dtype", f'"{name}" is not a KV format of this release', known)
    found = kv_format(name)
    if machine.platform not in found.platforms:
        refusals.refuse("AP0405", "kv_cache.dtype", f'"{name}" does not exist on {machine.platform}', known)
    problem = found.problem(checkpoint.config.head_dim, profile.kv_cache.block_tokens)
    if problem is not None:
        refusals.refuse("AP0405", "kv_cache.dtype", f'"{name}": {problem}', known)
    return found, reason
