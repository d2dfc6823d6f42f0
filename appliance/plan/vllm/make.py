"""The planner of backend vllm: the same fields and reasons, a command line as the result."""

from dataclasses import replace
from typing import Any

from appliance.engine.checkpoint import Checkpoint
from appliance.engine.checkpoint.task import Task
from appliance.profile import Profile
from appliance.vllm.config import Proof, VllmConfig

from ..checkpoints import Foreign
from ..endpoints import resolve_auto, switches
from ..errors import Refusals
from ..hardware import HardwareSnapshot
from ..machine import Machine, choose_machine
from ..plan import MachineFacts, MemoryPlan, ModelFacts, Plan, plan_hash
from ..resolved import Resolved, resolve_all
from ..server import server_config
from .arguments import arguments, environment, own_copies
from .boot import boot_limit, boot_seconds
from .machine import replicas
from .memory import plan_memory
from .options import canonical

PROOFS: dict[Task, Proof] = {
    "generate": "completion",
    "embed": "embedding",
    "classify": "classification",
    "transcribe": "transcription",
    "unknown": "health",
}
NEEDS_NEW_ENGINE = frozenset(
    {
        "model.served_names",
        "model.chat_template",
        "parsers.tool",
        "parsers.reasoning",
        "observability.log_level",
        "security.media.formats",
        "security.media.domains",
        "security.media.local_path",
        "security.media.max_pixels",
    }
)
"""Live where our own server does it, and read by vLLM once, when it starts."""
LEFT = "left to vLLM"


def make_vllm_plan(
    profile: Profile,
    hardware: HardwareSnapshot,
    checkpoint: Checkpoint | Foreign,
    refusals: Refusals,
    generation: int,
    revision: int,
    reload: dict[str, tuple[Any, str]],
) -> Plan:
    """ApplianceError AP04xx where it cannot run or does not fit. `reload`: what is chosen of that section."""
    machine = choose_machine(profile, hardware, True, refusals)
    model, task, sampling = _facts(checkpoint)
    copies = 1 if own_copies(profile) else profile.parallelism.data
    if machine.platform != "cpu" and machine.devices * copies > len(hardware.accelerators):
        refusals.refuse(
            "AP0407",
            "parallelism.data",
            f"{copies} x {machine.devices} devices are wanted, {hardware.name} has {len(hardware.accelerators)}",
            "lower parallelism, or plan for a larger machine",
        )
    memory, pool_reason = plan_memory(profile, machine, checkpoint, copies, refusals)
    context = profile.model.max_context
    own, threads = replicas(profile, hardware, machine, copies)
    names = profile.model.served_names or (profile.name,)
    chosen: dict[str, tuple[Any, str]] = {
        "model.served_names": (
            list(names),
            "written in the profile" if profile.model.served_names else "the profile's name",
        ),
        "kv_cache.size": (memory.kv_pool, pool_reason),
        "model.max_context": (context, "the model's own, or what fits: vLLM measures it"),
        "hardware.platform": (machine.platform, machine.platform_reason),
        "hardware.arch": (machine.arch, machine.arch_reason),
        "hardware.devices": (machine.devices, "; ".join(filter(None, (machine.devices_reason, threads)))),
        **_left(profile),
        **resolve_auto(profile, task),
        **reload,
    }
    values = tuple(_classed(profile, value) for value in resolve_all(profile, chosen))
    seconds = boot_seconds(model.stored_bytes, profile.parallelism.nodes, canonical(profile.engine.vllm.options))
    vllm = VllmConfig(
        command=profile.engine.vllm.command,
        arguments=tuple(arguments(profile, model.path, str(context), _memory_words(profile, machine, memory), copies)),
        served_names=names,
        proof=PROOFS[task],
        boot_seconds=seconds,
        boot_limit=boot_limit(seconds),
        environment=environment(profile),
        replicas=own,
        withheld=tuple(sorted({"VLLM_API_KEY", *(key.env for key in profile.security.api_keys if key.env)})),
        generation=generation,
    )
    identity = plan_hash(values, model, sampling)
    addresses = tuple(f"unix:vllm-{index}.sock" for index in range(copies))
    longest = context if context != "auto" else model.max_positions or 0
    return Plan(
        name=profile.name,
        release=profile.release,
        hash=identity,
        model=model,
        machine=MachineFacts.of(hardware, machine),
        memory=memory,
        values=values,
        sampling=sampling,
        boot_seconds=seconds,
        engine=None,
        server=server_config(
            profile, addresses, model.path, longest, switches(profile, task), sampling, identity, revision, generation
        ),
        vllm=vllm,
        notes=_notes(checkpoint),
    )


def _facts(checkpoint: Checkpoint | Foreign) -> tuple[ModelFacts, Task, dict[str, float]]:
    if isinstance(checkpoint, Foreign):
        kind = checkpoint.architecture
        facts = ModelFacts(kind.name, "safetensors", checkpoint.path, None, "", checkpoint.stored_bytes, None)
        return facts, kind.task, {}
    return ModelFacts.of(checkpoint), checkpoint.task, dict(checkpoint.sampling_defaults)


def _memory_words(profile: Profile, machine: Machine, memory: MemoryPlan) -> list[str]:
    """On a CPU vLLM's share of the memory would count what others hold as free, so the pool is always said."""
    asked = profile.kv_cache.size
    pool = (machine.platform == "cpu" and asked == "auto") or isinstance(asked, int)
    words = [] if machine.platform == "cpu" else ["--gpu-memory-utilization", f"{profile.hardware.memory_fraction:g}"]
    return [*words, "--kv-cache-memory-bytes", str(memory.kv_pool)] if pool else words


def _left(profile: Profile) -> dict[str, tuple[Any, str]]:
    """Fields that nobody wrote and whose default here means our own engine's."""
    cache, batching = profile.kv_cache.model_fields_set, profile.engine.batching.model_fields_set
    found = {f"kv_cache.{name}": ("auto", LEFT) for name in ("block_tokens", "prefix_caching") if name not in cache}
    return found | {f"engine.batching.{name}": ("auto", LEFT) for name in ("chunked_prefill",) if name not in batching}


def _classed(profile: Profile, value: Resolved) -> Resolved:
    """With the reload class that it has for vLLM."""
    if value.path == "parallelism.data" and profile.parallelism.expert.elastic:
        return replace(value, reload="live")
    return replace(value, reload="engine") if value.path in NEEDS_NEW_ENGINE else value


def _notes(checkpoint: Checkpoint | Foreign) -> tuple[str, ...]:
    if isinstance(checkpoint, Foreign):
        return (f"our own engine does not know {checkpoint.architecture.name or 'this architecture'}; vLLM decides",)
    return ()
