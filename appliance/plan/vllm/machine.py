"""Devices, cores and memory of each vLLM process."""

from appliance.profile import Profile

from ..machine import Machine

# Which devices a process sees; vLLM reads CUDA's name on ROCm too.
VISIBLE = {"cuda": "CUDA_VISIBLE_DEVICES", "rocm": "CUDA_VISIBLE_DEVICES", "xpu": "ZE_AFFINITY_MASK"}


def replicas(profile: Profile, machine: Machine, copies: int) -> tuple[dict[str, str], ...]:
    """What the environment of each data-parallel replica adds, so that they do not share devices or fight for cores."""
    if machine.platform == "cpu":
        if copies == 1:
            return ({},)
        # bound by number, copies would all take the first cores
        threads = max(1, machine.cores // copies)
        return ({"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": str(threads)},) * copies
    named = profile.hardware.devices
    spread = profile.parallelism.tensor * profile.parallelism.pipeline // profile.parallelism.nodes
    if copies == 1 and not isinstance(named, tuple):
        return ({},)
    devices = named if isinstance(named, tuple) else tuple(range(spread * copies))
    share = len(devices) // copies
    return tuple(
        {VISIBLE[machine.platform]: ",".join(map(str, devices[index * share : (index + 1) * share]))}
        for index in range(copies)
    )
