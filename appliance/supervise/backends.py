"""What runs the model: how many processes a plan becomes, and which differences between two plans need new ones."""

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol

from appliance.plan import Plan
from appliance.supervise.process import Role

BACKENDS: dict[str, str] = {
    "native": "appliance.supervise.backend_native",
    "vllm": "appliance.supervise.backend_vllm",
}
"""Module by `engine.backend`; each is a Backend."""


@dataclass(frozen=True)
class Replica:
    """One engine process of a generation. It prints {"stage"...}, then {"ready": true} or {"error": text}."""

    role: Role
    address: str
    """For ServerConfig.engine_addresses."""


@dataclass(frozen=True)
class EngineChange:
    """How the engine processes of two plans differ. Both empty: not at all."""

    settings: dict[str, bool | int | str] = field(default_factory=dict)
    """What running processes can be told (for native: EngineConfig fields of RECONFIGURABLE)."""
    replace: tuple[str, ...] = ()
    """What only new processes can have, in words."""


class Backend(Protocol):
    kind: Literal["native", "vllm"]
    """`native`: speaks engine/protocol.py at its address, so that the supervisor can ask it things as well."""

    def replicas(self, plan: Plan, generation: int, runtime: Path) -> tuple[Replica, ...]:
        """One per data-parallel replica. Sockets are made in `runtime`, a private folder, and differ by generation."""
        ...

    def change(self, before: Plan, after: Plan) -> EngineChange:
        """Both plans are for this backend."""
        ...


def backend(name: str) -> Backend:
    """KeyError for a name that validation would not let through."""
    module: Backend = import_module(BACKENDS[name])
    return module


def engine_change(before: Plan, after: Plan) -> EngineChange:
    """Between any two plans."""
    old, new = before.server.backend, after.server.backend
    if old != new:
        return EngineChange(replace=(f"backend: {old} -> {new}",))
    return backend(new).change(before, after)
