"""Memory for two generations: our own never counts as that of others, neither at boot nor at a reload."""

from dataclasses import replace
from typing import Any

from checkpoint_shapes import make_checkpoint
from plan_inputs import machine, make_profile

from appliance.plan import HardwareSnapshot, Plan, make_plan
from appliance.supervise.room import room

GIB = 2**30
BOOT = machine("cpu-16c-64g")


def plan(**tree: Any) -> Plan:
    return make_plan(make_profile(tree), BOOT, make_checkpoint("qwen3-0.6b"))


def later(used: int) -> HardwareSnapshot:
    return replace(BOOT, memory_available=BOOT.memory_available - used)


def test_a_plan_needs_what_its_budget_was_spent_on() -> None:
    made = plan()
    assert made.needed == made.memory.budget - made.memory.spare
    two = plan(parallelism={"data": 2})
    assert two.engine is not None
    assert two.needed == 2 * (two.memory.budget - two.memory.spare)
    assert two.engine.threads == BOOT.cores // 2


def test_our_own_memory_is_not_that_of_others() -> None:
    made = plan(kv_cache={"size": "4GiB"})
    held = made.needed
    found = room(made, made, later(held), own=held)
    assert found is not None
    assert found.budget == made.memory.budget
    assert found.fits


def test_memory_that_others_took_since_the_boot_counts() -> None:
    made = plan(kv_cache={"size": "4GiB"})
    held = made.needed
    others = BOOT.memory_available - held - 2 * GIB
    found = room(made, made, later(held + others), own=held)
    assert found is not None and not found.fits
    assert "fit in a budget of" in str(found) or "free now" in str(found)


def test_two_large_pools_do_not_fit() -> None:
    made = plan(kv_cache={"size": "30GiB"})
    held = made.needed
    found = room(made, made, later(held), own=held)
    assert found is not None and not found.fits
