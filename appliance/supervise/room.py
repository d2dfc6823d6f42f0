"""How much memory a second generation would find."""

from appliance.plan import HardwareSnapshot, Plan
from appliance.plan.memory import Budget
from appliance.supervise.decide import Room


def room(running: Plan, wanted: Plan, now: HardwareSnapshot, own: int) -> Room | None:
    """`now` = the machine as it is, `own` = bytes our processes hold of it: theirs are not others'.

    Only for engines in the host's memory; None where it cannot be known.
    """
    if {running.machine.platform, wanted.machine.platform} != {"cpu"}:
        return None
    memory = now.memory
    others = max(0, memory - now.memory_available - own)
    budget = Budget(memory, float(wanted.value("hardware.memory_fraction")), others)
    free = max(0, now.memory_available - budget.reserve)
    return Room(budget.budget, running.needed, wanted.needed, free)


def own_memory() -> int:
    """Bytes this process and all below it hold alone, roughly."""
    import psutil

    total = 0
    for process in (own := psutil.Process(), *own.children(recursive=True)):
        try:
            held = process.memory_info()
            total += held.rss - getattr(held, "shared", 0)
        except psutil.Error:
            continue
    return total
