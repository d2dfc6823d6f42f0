"""Section `hardware`: what of the machine the engine may use."""

from typing import Literal

from .setting import Section, setting
from .types import Devices


class Hardware(Section):
    platform: Literal["auto", "cpu", "cuda", "rocm", "xpu"] = setting(
        "auto", description="Kind of device the engine runs on; auto: what the machine offers.", reload="engine"
    )
    arch: str = setting(
        "auto",
        description="Device architecture the plan is made for (sm90, gfx950, x86-64-v4); auto: the one found.",
        reload="engine",
        pattern=r"^[a-z0-9][a-z0-9_.-]*$",
        form="an architecture's name such as sm90, gfx950 or x86-64-v4",
    )
    devices: Devices = setting(
        "auto", description="How many devices (2) or which ones ([0, 1]); auto: as parallelism needs.", reload="engine"
    )
    memory_fraction: float = setting(
        0.9,
        description="Share of the device's memory that weights, KV cache and work space may take together.",
        unit="share, 0 to 1",
        reload="engine",
        option="gpu-memory-utilization",
        gt=0.0,
        le=1.0,
    )
