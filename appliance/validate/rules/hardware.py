"""Devices that a platform does not have."""

from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ..facts import Facts


def one_cpu(facts: Facts) -> Iterator[Diagnostic]:
    hardware = facts.profile.hardware
    if hardware.platform == "cpu" and hardware.devices not in ("auto", 1, (0,)):
        fact = "platform cpu is one device, whatever its number of cores"
        yield facts.error("AP0206", "hardware.devices", fact, "write auto")
