"""Backend native: one process of our own engine per replica."""

import dataclasses
from pathlib import Path
from typing import Literal

import msgspec

from appliance.engine.config import RECONFIGURABLE, EngineConfig
from appliance.plan import Plan
from appliance.supervise.backends import EngineChange, Replica
from appliance.supervise.process import Role

MODULE = "appliance.engine.main"
ITS_OWN = frozenset({"address", "generation"})
"""Fields of EngineConfig that name the process rather than describe it."""

kind: Literal["native"] = "native"


def replicas(plan: Plan, generation: int, runtime: Path) -> tuple[Replica, ...]:
    engine = config(plan)
    return tuple(
        _replica(engine, generation, f"ipc://{runtime / f'engine-{generation}-{index}.sock'}")
        for index in range(plan.value("parallelism.data"))
    )


def change(before: Plan, after: Plan) -> EngineChange:
    old, new = dataclasses.asdict(config(before)), dataclasses.asdict(config(after))
    differs = [name for name in new if name not in ITS_OWN and old[name] != new[name]]
    replace = [f"{name}: {old[name]} -> {new[name]}" for name in differs if name not in RECONFIGURABLE]
    copies = before.value("parallelism.data"), after.value("parallelism.data")
    if copies[0] != copies[1]:
        replace.append(f"replicas: {copies[0]} -> {copies[1]}")
    return EngineChange({name: new[name] for name in differs if name in RECONFIGURABLE}, tuple(replace))


def config(plan: Plan) -> EngineConfig:
    assert plan.engine is not None, "a plan for another backend"
    return plan.engine


def _replica(engine: EngineConfig, generation: int, address: str) -> Replica:
    own = dataclasses.replace(engine, address=address, generation=generation)
    return Replica(Role("engine", MODULE, configuration=msgspec.json.encode(own)), address)
