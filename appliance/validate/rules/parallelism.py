"""Ways of spreading a model that do not come out even."""

from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ..facts import Facts


def divides_heads(facts: Facts) -> Iterator[Diagnostic]:
    tensor, checkpoint = facts.profile.parallelism.tensor, facts.readable
    if not checkpoint or tensor == 1:
        return
    heads, kv_heads = checkpoint.config.num_heads, checkpoint.config.num_kv_heads
    fits = [
        size for size in range(1, heads + 1) if heads % size == 0 and (kv_heads % size == 0 or size % kv_heads == 0)
    ]
    if tensor not in fits:
        fact = f"{tensor} does not divide the model's {heads} attention heads ({kv_heads} for keys and values)"
        yield facts.error("AP0220", "parallelism.tensor", fact, f"one of {', '.join(map(str, fits))}")


def enough_devices(facts: Facts) -> Iterator[Diagnostic]:
    devices, spread = facts.profile.hardware.devices, facts.profile.parallelism
    if devices == "auto":
        return
    offered = devices if isinstance(devices, int) else len(devices)
    needed = spread.tensor * spread.pipeline * spread.data // max(1, spread.nodes)
    if offered < needed:
        fact = f"{offered} devices, tensor x pipeline x data needs {needed}"
        yield facts.error("AP0221", "hardware.devices", fact, "write auto, or name enough of them")


def elastic_without_experts(facts: Facts) -> Iterator[Diagnostic]:
    expert = facts.profile.parallelism.expert
    if expert.elastic and not expert.enabled:
        fact = "elastic changes the number of expert-parallel workers, and expert parallelism is off"
        yield facts.error("AP0222", "parallelism.expert.elastic", fact, "set parallelism.expert.enabled: true as well")
