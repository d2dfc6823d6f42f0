"""How much of a machine one copy of the appliance asks for, and how long its start may take."""

import math
from dataclasses import dataclass

from appliance.profile.source import parse_source

from .base import Subject

MIB, GIB = 2**20, 2**30
ROUND_TO = 64 * MIB
SUPERVISOR = 256 * MIB
"""In use before the plan is made inside the container: it counts as other processes' memory there."""
KEPT_FREE = 32
"""The planner leaves one part of so many unused."""
HOST_PER_DEVICE = 8 * GIB
"""Main memory beside an accelerator: libraries, and weights on their way to the device."""
HOST_CORES_PER_DEVICE = 4
SHARED_MEMORY = 8 * GIB
"""/dev/shm for processes that exchange tensors on one machine."""

BOOT_FACTOR = 4
"""The planner's estimate is for a warm page cache and a quiet machine."""
BOOT_SLACK = 60
FETCH_BYTES_PER_SECOND = 10_000_000
LEAVING = 15
"""Seconds past the drain time until processes are gone, with the time a balancer takes to look elsewhere."""


@dataclass(frozen=True)
class Sizing:
    """Of one copy: cores, bytes of main memory, devices, seconds."""

    cores: int
    memory: int
    limited: bool
    """The engine plans for exactly this much, so limits equal requests."""
    devices: int
    shared_memory: int
    boot_seconds: int
    boot_reason: str
    stop_seconds: int
    cache: int
    """Bytes of the cache folder."""


def sizing(subject: Subject) -> Sizing:
    plan = subject.plan
    boot, reason = _boot(subject)
    devices = devices_per_node(subject) if plan.machine.platform != "cpu" else 0
    several = devices > 1 or subject.profile.engine.backend == "vllm"
    fetched = fetches(subject)
    return Sizing(
        cores=plan.machine.cores if not devices else min(plan.machine.cores, HOST_CORES_PER_DEVICE * devices),
        memory=HOST_PER_DEVICE * devices if devices else cpu_memory(subject),
        limited=not devices,
        devices=devices,
        shared_memory=SHARED_MEMORY if several else 0,
        boot_seconds=boot,
        boot_reason=reason,
        stop_seconds=math.ceil(subject.profile.reload.drain) + LEAVING,
        cache=_up(2 * plan.model.stored_bytes + GIB, GIB) if fetched else GIB,
    )


def fetches(subject: Subject) -> bool:
    """The model comes over the network at the first start."""
    return parse_source(subject.profile.model.source).kind in ("hf", "pypi")


def devices_per_node(subject: Subject) -> int:
    parallel = subject.profile.parallelism
    return math.ceil(parallel.tensor * parallel.pipeline * parallel.data / parallel.nodes)


def cpu_memory(subject: Subject) -> int:
    """A limit with room for this plan; inside it, an automatic kv_cache.size may come out smaller (AP0814)."""
    needed = subject.plan.needed
    by_share = needed / subject.profile.hardware.memory_fraction
    by_reserve = (needed + SUPERVISOR) * KEPT_FREE / (KEPT_FREE - 1)
    return _up(math.ceil(max(by_share, by_reserve)), ROUND_TO)


def _boot(subject: Subject) -> tuple[int, str]:
    plan = subject.plan
    seconds = plan.boot_seconds * BOOT_FACTOR + BOOT_SLACK
    reason = f"{BOOT_FACTOR} x {plan.boot_seconds:g} s of estimated boot + {BOOT_SLACK} s"
    if plan.vllm is not None:
        seconds = plan.vllm.boot_limit + BOOT_SLACK
        reason = f"{plan.vllm.boot_limit:g} s that vLLM may take + {BOOT_SLACK} s"
    if fetches(subject):
        seconds += plan.model.stored_bytes / FETCH_BYTES_PER_SECOND
        reason += f" + {plan.model.stored_bytes / 1e6:,.0f} MB at {FETCH_BYTES_PER_SECOND / 1e6:g} MB/s"
    return math.ceil(seconds / 10) * 10, reason


def _up(count: int, step: int) -> int:
    return -(-count // step) * step
