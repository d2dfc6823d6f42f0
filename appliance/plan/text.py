"""A plan for people, on 80 columns: what the model is, where memory goes, what was decided and why."""

import shlex
from collections.abc import Iterable
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from appliance.vllm.config import VllmConfig

from .diff import Change
from .plan import MemoryPlan, Plan
from .resolved import Resolved
from .units import plural, size

BYTE_FIELDS = {"kv_cache.size", "limits.body"}
SAMPLING_REMARKS = {"max_new_tokens": "of a chat that names no length, after limits.max_tokens.default"}
RELOADS = {
    "live": "taken over while serving",
    "reconfigure": "told to the running engine, where its KV pool stays",
    "engine": "needs a new engine process",
    "listener": "needs a new socket",
}


def print_plan(plan: Plan, console: Console, everything: bool = False) -> None:
    """`everything` also lists the fields that stand at their defaults."""
    console.print(_head(plan))
    console.print(_section("Memory", _memory(plan.memory, plan.machine.devices)))
    if plan.vllm is not None:
        console.print(_section("Command", Text(_command(plan.vllm), overflow="fold")))
    by_origin = {origin: [v for v in plan.values if v.origin == origin] for origin in ("planned", "profile", "default")}
    console.print(_section("Decided here", _values(_without_off_endpoints(by_origin["planned"]))))
    written = [value for value in by_origin["profile"] if value.path not in ("schema", "name", "release")]
    console.print(_section("Written in the profile", _values(written, reasons=False)))
    if plan.sampling:
        console.print(_section("Sampling defaults, from the checkpoint", _sampling(plan.sampling)))
    if everything:
        console.print(_section("Defaults", _values(by_origin["default"], reasons=False)))
    for note in plan.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    if not everything:
        rest = plural(len(by_origin["default"]), "field")
        console.print(Text(f"{rest} at their defaults: --all lists them, --format json has everything.", style="dim"))


def print_changes(changes: Iterable[Change], before: str, console: Console) -> None:
    changes = list(changes)
    if not changes:
        console.print(f"no difference to {before}: nothing would be reloaded", highlight=False)
        return
    table = _table(3)
    for change in changes:
        value = Text(f"{shown(change.path, change.before)} → {shown(change.path, change.after)}")
        table.add_row(change.path, value, Text(change.reload, style="dim"))
    console.print(_section(f"Changes from {before}", table))
    needed = [reload for reload in RELOADS if any(change.reload == reload for change in changes)]
    console.print(Text("; ".join(f"{reload}: {RELOADS[reload]}" for reload in needed), style="dim"))


def _head(plan: Plan) -> RenderableType:
    model, machine = plan.model, plan.machine
    title = Text.assemble((plan.name, "bold"), (f"  release {plan.release}, plan {plan.hash}", "dim"))
    devices = f"{machine.devices} × " if machine.platform != "cpu" else ""
    place = f"{machine.name}: {devices}{machine.device_name} ({machine.arch})"
    if machine.platform == "cpu":
        place += f", {plural(machine.cores, 'core')}"
    stored = size(model.stored_bytes) + (f" of {model.stored_dtype}" if model.stored_dtype else "")
    parameters = f"{_count(model.parameters)} parameters, " if model.parameters else ""
    what = f"{model.architecture}, {parameters}{stored}"
    boot = f"boots in about {plan.boot_seconds:g} s"
    return Group(title, Text(f"{what} ({model.format})"), Text(f"on {place}, {boot}"), Text())


def _command(vllm: VllmConfig) -> str:
    """With what the environment of every replica adds."""
    first, *others = vllm.replicas
    shared = {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}
    given = [f"{name}={value}" for name, value in sorted((vllm.environment | shared).items())]
    return shlex.join(["env", *given, *vllm.argv()])


def _memory(memory: MemoryPlan, devices: int) -> Table:
    where = "" if devices == 1 else " per device"
    rows = [
        (f"budget{where}", memory.budget, memory.budget_reason),
        ("weights", memory.weights, f"{size(memory.head_copy)} of it the head's copy" if memory.head_copy else ""),
        *([("adapters", memory.adapters, "LoRA matrices beside the weights")] if memory.adapters else []),
        ("processes", memory.processes, "interpreters and libraries"),
        ("work space", memory.workspace + memory.gathered, "activations, logits, cache copies of the largest step"),
        (
            "KV cache",
            memory.kv_pool,
            _tokens(memory),
        ),
        ("spare", memory.spare, _spare(memory)),
    ]
    table = _table(3, number=1)
    for name, count, reason in rows:
        table.add_row(name, size(count), Text(reason, style="dim"))
    return table


def _tokens(memory: MemoryPlan) -> str:
    if not memory.kv_tokens:
        return ""
    sequences = f", or {plural(memory.full_sequences, 'sequence')} of max_context" if memory.full_sequences else ""
    return f"{memory.kv_tokens:,} tokens of {size(memory.kv_bytes_per_token)}{sequences}"


def _spare(memory: MemoryPlan) -> str:
    if memory.kv_tokens_that_fit <= memory.kv_tokens:
        return ""
    return f"up to {memory.kv_tokens_that_fit:,} tokens would fit: kv_cache.size"


def _without_off_endpoints(values: list[Resolved]) -> list[Resolved]:
    """Endpoints that are off share one line."""
    off = [value for value in values if value.path.startswith("endpoints.") and value.value == "off"]
    if not off:
        return values
    names = ", ".join(value.path.removeprefix("endpoints.") for value in off)
    line = Resolved("endpoints", "off", f"{off[0].reason}: {names}", "planned", "live")
    return [*(value for value in values if value not in off), line]


def _values(values: list[Resolved], reasons: bool = True) -> Table:
    table = _table(3 if reasons else 2)
    for value in values:
        cells: list[RenderableType] = [value.path, Text(shown(value.path, value.value))]
        table.add_row(*cells, *([Text(value.reason, style="dim")] if reasons else []))
    return table


def _sampling(defaults: dict[str, float]) -> Table:
    table = _table(3)
    for name, value in defaults.items():
        number = f"{value:,.0f}" if value == int(value) else f"{value:g}"
        table.add_row(name, number, Text(SAMPLING_REMARKS.get(name, ""), style="dim"))
    return table


def _table(columns: int, number: int | None = None) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for column in range(columns):
        table.add_column(
            no_wrap=column == 0,
            overflow="fold",
            justify="right" if column == number else "left",
            ratio=1 if column == columns - 1 else None,
        )
    return table


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(title, style="bold"), Padding(body, (0, 0, 1, 2)))


def shown(path: str, value: Any) -> str:
    """As the profile would write it."""
    if path in BYTE_FIELDS and isinstance(value, int):
        return size(value)
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    if isinstance(value, list):
        return ", ".join(shown("", item) for item in value) or "[]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown('', item)}" for key, item in value.items()) + "}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _count(number: int) -> str:
    for unit, word in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            return f"{number / unit:.3g} {word}"
    return str(number)
