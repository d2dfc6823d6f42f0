"""Devices and cores of each vLLM process."""

from appliance.profile import Profile

from ..hardware import HardwareSnapshot
from ..machine import Machine
from .threads import share

# Which devices a process sees; vLLM reads CUDA's name on ROCm too.
VISIBLE = {"cuda": "CUDA_VISIBLE_DEVICES", "rocm": "CUDA_VISIBLE_DEVICES", "xpu": "ZE_AFFINITY_MASK"}


def replicas(
    profile: Profile, hardware: HardwareSnapshot, machine: Machine, copies: int
) -> tuple[tuple[dict[str, str], ...], str]:
    """What the environment of each data-parallel replica adds, so that they do not share devices or fight for cores;
    and why the cores are shared as they are, on a CPU."""
    spread = profile.parallelism.tensor * profile.parallelism.pipeline // profile.parallelism.nodes
    if machine.platform == "cpu":
        threads = share(machine.cores, hardware.numa_nodes, max(1, spread), copies, hardware.openmp)
        return (threads.environment,) * copies, threads.reason
    named = profile.hardware.devices
    if copies == 1 and not isinstance(named, tuple):
        return ({},), ""
    devices = named if isinstance(named, tuple) else tuple(range(spread * copies))
    each = len(devices) // copies
    return tuple(
        {VISIBLE[machine.platform]: ",".join(map(str, devices[index * each : (index + 1) * each]))}
        for index in range(copies)
    ), ""
