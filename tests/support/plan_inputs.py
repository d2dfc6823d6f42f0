"""Profiles and machines for tests of the planner, without files."""

from pathlib import Path
from typing import Any

from appliance.plan import MACHINES, HardwareSnapshot
from appliance.profile import Profile

SAVED = Path(__file__).resolve().parents[1] / "appliance/plan/hardware"


def machine(name: str) -> HardwareSnapshot:
    """A saved snapshot, else one of the catalogue."""
    saved = SAVED / f"{name}.json"
    return HardwareSnapshot.load(saved.read_bytes()) if saved.exists() else MACHINES[name]


def tuples(tree: Any) -> Any:
    """Lists as the profile's reader gives them."""
    if isinstance(tree, dict):
        return {key: tuples(value) for key, value in tree.items()}
    return tuple(map(tuples, tree)) if isinstance(tree, list) else tree


def make_profile(tree: dict[str, Any] | None = None) -> Profile:
    """`tree` over the least a profile needs."""
    tree = tree or {}
    model = {"source": "/models/x", **tree.get("model", {})}
    return Profile.model_validate(tuples({"schema": 1, "name": "case", "release": "0.32", **tree, "model": model}))
