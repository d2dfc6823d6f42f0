"""One running set of engine processes built from one plan. A reload that needs new engines makes generation n + 1."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import msgspec

from appliance.engine.config import EngineConfig
from appliance.supervise.keeper import Keeper, Listener
from appliance.supervise.process import Role
from appliance.supervise.restart import RestartPolicy

ENGINE = "appliance.engine.main"


@dataclass(frozen=True)
class Generation:
    number: int
    config: EngineConfig
    engine: Keeper

    @property
    def address(self) -> str:
        return self.config.address


def make_generation(
    number: int, config: EngineConfig, runtime: Path, listener: Listener, policy: RestartPolicy, module: str = ENGINE
) -> Generation:
    """Not yet running. Its engine binds a socket of its own in `runtime`: generations can stand side by side."""
    own = dataclasses.replace(config, address=f"ipc://{runtime / f'engine-{number}.sock'}", generation=number)
    role = Role("engine", module, configuration=msgspec.json.encode(own))
    return Generation(number, own, Keeper(role, listener, policy))
