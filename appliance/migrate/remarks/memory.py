"""Servers beside each other on the same devices, whose shares of the memory add up to more than there is."""

import re
from collections.abc import Iterator

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Deployment, Entrypoint
from appliance.migrations.catalogue import catalogue
from appliance.migrations.release import Release

from ..finding import Finding
from .scene import Scene, remark

_DEFAULT = re.compile(r"\$\{\w+:?-(\d*\.?\d+)\}")
_ONE_HOST = ("shell", "compose", "systemd", "makefile")


def memory_remarks(scene: Scene, index: int) -> Iterator[Finding]:
    """With the last deployment of the file, about all of them."""
    if scene.dialect not in _ONE_HOST or index != len(scene.deployments) - 1 or index == 0:
        return
    groups: dict[str, list[Deployment]] = {}
    for one in (one for one in scene.deployments if one.entrypoint is not Entrypoint.CONFIG):
        groups.setdefault(_text(one, "CUDA_VISIBLE_DEVICES"), []).append(one)
    for devices, servers in groups.items():
        shares = [_fraction(one, scene.target) for one in servers]
        if len(servers) > 1 and sum(shares) > 1:
            where = f"device {devices}" if devices.isdigit() else "one device"
            listed = " + ".join(f"{share:g}" for share in shares)
            fact = f"{len(shares)} servers ask for {listed} of the memory; on {where} only the first would start"
            fact += ", where they run at once" if scene.dialect == "makefile" else ""
            way_out = "give each its share, or its own devices"
            yield remark("VM0106", Severity.WARNING, "--gpu-memory-utilization", fact, way_out)


def _fraction(deployment: Deployment, target: Release) -> float:
    sites = [site for site in deployment.sites if site.name == "gpu-memory-utilization"]
    values = [site.value if site.known else _default(site.raw_value or "") for site in sites]
    known = [float(value) for value in values if isinstance(value, int | float)]
    book = catalogue()
    return known[-1] if known else float(book.options["gpu-memory-utilization"].nearest(book.index(target)).default)


def _default(text: str) -> float | None:
    """Of a variable that may be set elsewhere: `${UTIL:-0.4}`."""
    found = _DEFAULT.fullmatch(text)
    return float(found[1]) if found else None


def _text(deployment: Deployment, name: str) -> str:
    return next((site.raw_value or "" for site in deployment.sites if site.name == name), "")
