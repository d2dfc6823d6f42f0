"""Backend vllm: one `vllm serve` on a unix socket per replica, started by our own child."""

import dataclasses
from pathlib import Path
from typing import Literal

import msgspec

from appliance.plan import Plan
from appliance.supervise.backends import EngineChange, Replica
from appliance.supervise.process import Role
from appliance.vllm.config import UNIX, VllmConfig

MODULE = "appliance.vllm.main"
SIZE = "--data-parallel-size"
ITS_OWN = frozenset({"address", "generation", "boot_seconds", "boot_limit"})
"""Fields of VllmConfig that name the process, or tell what is expected of it, rather than describe it."""

kind: Literal["vllm"] = "vllm"


def replicas(plan: Plan, generation: int, runtime: Path) -> tuple[Replica, ...]:
    shared = config(plan)
    return tuple(
        _replica(shared, own, generation, f"{UNIX}{runtime / f'vllm-{generation}-{index}.sock'}")
        for index, own in enumerate(shared.replicas)
    )


def change(before: Plan, after: Plan) -> EngineChange:
    old, new = (dataclasses.asdict(_at_rest(config(plan))) for plan in (before, after))
    differs = [name for name in new if name not in ITS_OWN and old[name] != new[name]]
    return EngineChange(replace=tuple(f"vLLM's {name.replace('_', ' ')}" for name in differs))


def _at_rest(own: VllmConfig) -> VllmConfig:
    """Without what the servers change while it runs: the number of engines of an elastic one."""
    words = list(own.arguments)
    if "--enable-elastic-ep" in words and SIZE in words:
        place = words.index(SIZE)
        del words[place : place + 2]
    return dataclasses.replace(own, arguments=tuple(words))


def config(plan: Plan) -> VllmConfig:
    assert plan.vllm is not None, "a plan for another backend"
    return plan.vllm


def _replica(shared: VllmConfig, own: dict[str, str], generation: int, address: str) -> Replica:
    made = dataclasses.replace(
        shared, address=address, generation=generation, environment=shared.environment | own, replicas=({},)
    )
    return Replica(Role("engine", MODULE, configuration=msgspec.json.encode(made)), address)
