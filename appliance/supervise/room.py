"""How much memory a second generation would find."""

from appliance.plan import HardwareSnapshot, Plan
from appliance.plan.memory import Budget
from appliance.supervise.decide import Room


def needs(plan: Plan) -> int | None:
    """Bytes of all its engines with full caches; None where the backend measures for itself."""
    memory = plan.memory
    if memory is None:
        return None
    one = memory.weights + memory.processes + memory.workspace + memory.gathered + memory.kv_pool
    return one * int(plan.value("parallelism.data"))


def room(running: Plan, wanted: Plan, now: HardwareSnapshot, own: int) -> Room | None:
    """`now` = the machine as it is, `own` = bytes our processes hold of it: theirs are not others'.

    Only for engines in the host's memory; None where it cannot be known.
    """
    held, asked = needs(running), needs(wanted)
    if held is None or asked is None or {running.machine.platform, wanted.machine.platform} != {"cpu"}:
        return None
    memory = now.memory
    others = max(0, memory - now.memory_available - own)
    budget = Budget(memory, float(wanted.value("hardware.memory_fraction")), others)
    free = max(0, now.memory_available - budget.reserve)
    return Room(budget.budget, held, asked, free)


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
