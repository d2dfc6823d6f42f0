"""`appliance render KIND FILE`: manifests, units and command lines from a profile and its plan."""

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from appliance.diagnostics import Diagnostic
    from appliance.plan import HardwareSnapshot, Plan
    from appliance.render import Subject


def render(
    kind: Annotated[str, typer.Argument(help="kubernetes, helm, compose, systemd or vllm.", show_default=False)],
    file: Annotated[Path, typer.Argument(help="The profile.", show_default=False)],
    hardware: Annotated[
        str,
        typer.Option(help="What one copy gets: auto = this machine, a name (cpu-4c-16g), or a snapshot's file."),
    ] = "auto",
    image: Annotated[
        str | None, typer.Option(help="Container image.", show_default="appliance:VERSION-PLATFORM")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Namespace of the objects.", show_default=False)] = None,
    replicas: Annotated[int, typer.Option(min=1, help="Copies that share the requests.")] = 1,
    monitor: Annotated[bool, typer.Option("--monitor", help="Add a ServiceMonitor for Prometheus.")] = False,
    node_rank: Annotated[int, typer.Option(min=0, help="vllm: which of several machines, from 0.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write this file.", show_default="standard output")
    ] = None,
) -> None:
    """Write what runs a profile elsewhere. Equal inputs give equal bytes; secrets are referred to, never written."""
    from appliance.diagnostics import Severity
    from appliance.render import RENDERERS, Options, Subject, find_renderer

    from .offline import plan_offline, validate_offline
    from .show import show

    if kind not in RENDERERS:
        typer.echo(f'error: nothing is rendered as "{kind[:60]}"; known: {", ".join(RENDERERS)}', err=True)
        raise typer.Exit(2)
    options = Options(image, namespace, replicas, monitor, output, node_rank)
    command = ["appliance", "render", kind, file.name, "--hardware", Path(hardware).name]
    for name, value in {"--image": image, "--namespace": namespace}.items():
        command += [name, value] if value is not None else []
    command += ["--replicas", str(replicas)] if replicas > 1 else []
    command += ["--monitor"] if monitor else []
    command += ["--node-rank", str(node_rank)] if node_rank else []
    machine, forecast = _machine(hardware)
    checked, profile = validate_offline(file)
    plan = partial(plan_offline, file, checked, profile, forecast=forecast)
    subject = Subject(checked.document, profile, plan(machine), shlex.join(command), os.environ)
    rendered = find_renderer(kind).render(subject, options)
    notes = [subject.remark("AP0811", Severity.NOTE, "", note, "see `appliance plan`") for note in subject.plan.notes]
    if kind != "vllm":
        notes += _smaller_inside(subject, machine, plan)
    show([*rendered.remarks, *notes], file=sys.stderr)
    if hardware == "auto" and kind != "vllm":
        show([_planned_here(file)], file=sys.stderr)
    if output is None:
        typer.echo(rendered.text, nl=False)
    else:
        _write(output, rendered.text)


def _machine(name: str) -> "tuple[HardwareSnapshot, bool]":
    """For auto: this machine as if nothing else ran on it, so that what is free just now changes nothing."""
    from .plan import find_hardware

    found, forecast = find_hardware(name)
    if name == "auto":
        idle = tuple(replace(device, free=device.memory) for device in found.accelerators)
        found = replace(found, name="this machine", memory_available=found.memory, accelerators=idle)
    return found, forecast


def _smaller_inside(
    subject: "Subject", machine: "HardwareSnapshot", plan: "Callable[[HardwareSnapshot], Plan]"
) -> "list[Diagnostic]":
    """Plans once more within the limit that is rendered, as the appliance will."""
    from appliance.diagnostics import Severity
    from appliance.plan.units import size
    from appliance.render.sizing import SUPERVISOR, sizing

    sizes, held = sizing(subject), subject.plan.memory
    if not sizes.limited:
        return []
    left = sizes.memory - SUPERVISOR
    within = replace(machine, memory=sizes.memory, memory_available=left, cores=sizes.cores, limited=True)
    inside = plan(within).memory
    if inside.kv_pool >= held.kv_pool:
        return []
    tokens = f" ({inside.kv_tokens:,} tokens)" if inside.kv_tokens else ""
    fact = f"auto takes {size(inside.kv_pool)}{tokens} inside the memory limit of {size(sizes.memory)}"
    fact += f", {size(held.kv_pool)} on {machine.name}"
    asked = f"{held.kv_tokens} tokens" if held.kv_tokens else size(held.kv_pool).replace(" ", "")
    fix = f"write kv_cache.size: {asked}, to have what was planned"
    return [subject.remark("AP0814", Severity.NOTE, "kv_cache.size", fact, fix)]


def _planned_here(file: Path) -> "Diagnostic":
    from appliance.diagnostics import Diagnostic, Position, Severity

    fact = "memory, cores and startup budget are those of this machine"
    fix = "name what one copy gets: --hardware cpu-4c-16g, h100x8 ..."
    return Diagnostic("AP0805", Severity.NOTE, Position(str(file)), "", fact, fix)


def _write(output: Path, text: str) -> None:
    from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity

    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        fact, fix = f"{output} cannot be written: {error.strerror}", "name a file in a folder that you may write to"
        finding = Diagnostic("AP0806", Severity.ERROR, Position("--output"), "", fact, fix)
        raise ApplianceError([finding], exit_code=2) from error
