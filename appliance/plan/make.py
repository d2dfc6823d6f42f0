"""The planner: a pure function of profile, machine and checkpoint."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from appliance.engine.checkpoint import Checkpoint, CheckpointError
from appliance.engine.config import EngineConfig
from appliance.engine.lora.stored import memory_bytes
from appliance.profile import Profile

from .boot_time import boot_seconds
from .checkpoints import Foreign
from .endpoints import resolve_auto, switches
from .errors import FindPosition, Refusals, nowhere
from .hardware import HardwareSnapshot
from .machine import Machine, choose_machine, share_of_replica
from .memory import Budget, Costs, Shape, costs
from .numbers import DTYPE_BYTES, choose_dtype, choose_kv
from .plan import MachineFacts, MemoryPlan, ModelFacts, Plan, plan_hash
from .resolved import resolve_all
from .server import server_config
from .sizes import Sizes, choose_sizes
from .units import size


def make_plan(
    profile: Profile,
    hardware: HardwareSnapshot,
    checkpoint: Checkpoint | Foreign,
    *,
    address: str = "ipc://engine",
    position: FindPosition = nowhere,
    forecast: bool = False,
    generation: int = 1,
    revision: int = 1,
    adapters: Mapping[str, Path] | None = None,
) -> Plan:
    """Everything explicit, each value with its reason; ApplianceError AP04xx where it cannot run or does not fit.

    `address` is the ZeroMQ endpoint of engine and server, `position` finds a field in the operator's file. `forecast`
    plans for the snapshot's best device even where this release cannot boot on it. `adapters`: folder of each adapter
    on this machine, by its name.
    """
    refusals = Refusals(position)
    if profile.engine.backend == "vllm":
        from .vllm import make_vllm_plan

        return make_vllm_plan(profile, hardware, checkpoint, refusals, generation, revision, _reload(profile))
    if isinstance(checkpoint, Foreign):
        checkpoint.refuse(refusals)
    whole = choose_machine(profile, hardware, forecast, refusals)
    machine = share_of_replica(whole, profile.parallelism.data, refusals)
    dtype, dtype_reason = choose_dtype(profile, checkpoint, machine, refusals)
    kv, kv_reason = choose_kv(profile, checkpoint, machine, dtype, refusals)
    config, parallel = checkpoint.config, profile.parallelism
    shape = Shape(
        layers=-(-config.num_layers // parallel.pipeline),
        kv_heads=max(1, config.num_kv_heads // parallel.tensor),
        content_bytes=kv.content_bytes(config.head_dim),
        block_tokens=profile.kv_cache.block_tokens,
    )
    budget = Budget(machine.memory, profile.hardware.memory_fraction, machine.memory - machine.available)
    all_costs = costs(
        checkpoint,
        budget,
        shape,
        DTYPE_BYTES[dtype],
        machine.platform,
        parallel.tensor,
        parallel.pipeline,
        _adapter_bytes(profile, adapters or {}, DTYPE_BYTES[dtype], refusals),
    )
    sizes = choose_sizes(profile, config.max_positions, all_costs, machine, refusals)
    model = ModelFacts.of(checkpoint)
    names = profile.model.served_names
    chosen: dict[str, tuple[Any, str]] = {
        "model.served_names": (
            list(names or (profile.name,)),
            "written in the profile" if names else "the profile's name",
        ),
        "model.dtype": (dtype, dtype_reason),
        "model.weights": (dtype, _weights_reason(model, dtype, all_costs)),
        "model.max_context": (sizes.context, sizes.context_reason),
        "hardware.platform": (machine.platform, machine.platform_reason),
        "hardware.arch": (machine.arch, machine.arch_reason),
        "hardware.devices": (machine.devices, machine.devices_reason),
        "kv_cache.dtype": (kv.name, kv_reason),
        "kv_cache.size": (sizes.blocks * shape.block_bytes, sizes.pool_reason),
        "engine.batching.max_sequences": (sizes.sequences, sizes.sequences_reason),
        "engine.batching.max_tokens": (sizes.batch_tokens, sizes.batch_tokens_reason),
        **resolve_auto(profile, checkpoint.task),
        **_reload(profile),
    }
    values = resolve_all(profile, chosen)
    sampling = dict(checkpoint.sampling_defaults)
    identity = plan_hash(values, model, sampling)
    engine = EngineConfig(
        address=address,
        model_path=checkpoint.path,
        dtype=dtype,
        kv_dtype=kv.name,
        block_tokens=shape.block_tokens,
        num_blocks=sizes.blocks,
        max_context=sizes.context,
        max_sequences=sizes.sequences,
        max_batch_tokens=sizes.batch_tokens,
        prefix_caching=profile.kv_cache.prefix_caching,
        chunked_prefill=profile.engine.batching.chunked_prefill,
        threads=machine.cores if machine.platform == "cpu" else 0,
        device={"rocm": "cuda"}.get(machine.platform, machine.platform),
        generation=generation,
        log_level=profile.observability.log_level,
        log_format=profile.observability.log_format,
    )
    return Plan(
        name=profile.name,
        release=profile.release,
        hash=identity,
        model=model,
        machine=MachineFacts.of(hardware, whole),
        memory=_memory(checkpoint, all_costs, sizes),
        values=values,
        sampling=sampling,
        boot_seconds=boot_seconds(model, dtype, machine),
        engine=engine,
        server=server_config(
            profile,
            (address,),
            checkpoint.path,
            sizes.context,
            switches(profile, checkpoint.task),
            sampling,
            identity,
            revision,
            generation,
        ),
        notes=_notes(machine, checkpoint, shape, profile.parallelism.data),
    )


def _reload(profile: Profile) -> dict[str, tuple[Any, str]]:
    chosen: dict[str, tuple[Any, str]] = {}
    if profile.reload.watch == "auto":
        chosen["reload.watch"] = True, "the appliance follows edits"
    if profile.reload.strategy == "auto":
        chosen["reload.strategy"] = "auto", "chosen at each reload: surge where both generations fit in memory"
    return chosen


def _weights_reason(model: ModelFacts, dtype: str, found: Costs) -> str:
    in_memory = size(found.weights - found.head_copy)
    if model.stored_dtype == dtype:
        return f"as stored, {in_memory}"
    verb = "narrowed" if model.stored_dtype == "float32" else "widened"
    return f"{verb} from {model.stored_dtype} at load: {size(model.stored_bytes)} become {in_memory}"


def _adapter_bytes(profile: Profile, adapters: Mapping[str, Path], element_bytes: int, refusals: Refusals) -> int:
    found = 0
    for index, adapter in enumerate(profile.model.adapters):
        if adapter.name not in adapters:
            continue
        try:
            found += memory_bytes(adapters[adapter.name], element_bytes)
        except CheckpointError as error:
            path = f"model.adapters[{index}].source"
            refusals.refuse("AP0410", path, f"{error.path}: {error.fact}", error.fix, exit_code=2)
    return found


def _memory(checkpoint: Checkpoint, found: Costs, sizes: Sizes) -> MemoryPlan:
    shape, budget, config = found.shape, found.budget, checkpoint.config
    workspace = found.workspace(sizes.context, sizes.batch_tokens, sizes.sequences)
    pool = sizes.blocks * shape.block_bytes
    gathered = found.gathered(pool)
    sliding = sum(config.sliding_layers)
    beyond = max(0, sizes.context - (config.sliding_window or sizes.context))
    return MemoryPlan(
        memory=budget.memory,
        fraction=budget.fraction,
        others=budget.others,
        reserve=budget.reserve,
        budget=budget.budget,
        budget_reason=str(budget),
        weights=found.weights,
        head_copy=found.head_copy,
        processes=found.processes,
        workspace=workspace,
        gathered=gathered,
        kv_bytes_per_token=shape.token_bytes,
        kv_bytes_per_block=shape.block_bytes,
        kv_pool=pool,
        kv_tokens=sizes.blocks * shape.block_tokens,
        kv_tokens_that_fit=sizes.blocks_that_fit * shape.block_tokens,
        full_sequences=sizes.blocks // shape.blocks_for(sizes.context),
        sliding_layers=sliding,
        sliding_excess=sliding * beyond * shape.token_bytes // max(1, config.num_layers),
        spare=budget.budget - found.resident - workspace - gathered - pool,
        adapters=found.adapters,
    )


def _notes(machine: Machine, checkpoint: Checkpoint, shape: Shape, replicas: int) -> tuple[str, ...]:
    notes = []
    if replicas > 1:
        notes.append(f"figures are of each of {replicas} replicas, which share the machine evenly")
    if not machine.runs_native:
        notes.append(f"a forecast: the native engine of this release does not compute on {machine.platform} yet")
    sliding = sum(checkpoint.config.sliding_layers)
    if sliding:
        window = checkpoint.config.sliding_window
        notes.append(f"{sliding} layers see {window:,} tokens, but keep all of a sequence's tokens in this release")
    if checkpoint.task == "embed":
        notes.append("the checkpoint is an embedding model; this release would only generate text with it")
    return tuple(notes)
