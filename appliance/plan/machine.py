"""Which device of the machine the engine runs on, and how much of it is left."""

from dataclasses import dataclass, replace

from appliance.profile import Profile

from .accelerators import Accelerator
from .errors import Refusals
from .hardware import VENDOR_PLATFORMS, HardwareSnapshot

# Platforms on which the native engine of this release computes; plans for others are forecasts.
NATIVE_PLATFORMS = ("cpu",)


@dataclass(frozen=True)
class Machine:
    """`memory` and `available` in bytes, of one device (of the host on the CPU)."""

    platform: str
    platform_reason: str
    arch: str
    arch_reason: str
    devices: int
    devices_reason: str
    memory: int
    available: int
    cores: int
    features: frozenset[str]

    @property
    def runs_native(self) -> bool:
        return self.platform in NATIVE_PLATFORMS


def choose_machine(profile: Profile, hardware: HardwareSnapshot, forecast: bool, refusals: Refusals) -> Machine:
    """`forecast` plans for the best device of the snapshot, also where this release cannot boot on it."""
    platform, reason = _platform(profile, hardware, forecast, refusals)
    wanted = -(-profile.parallelism.tensor * profile.parallelism.pipeline // profile.parallelism.nodes)
    devices, devices_reason = _devices(profile, wanted)
    if platform == "cpu":
        arch, memory, available = hardware.cpu_arch, hardware.memory, hardware.memory_available
    else:
        fitting = [device for device in hardware.accelerators if VENDOR_PLATFORMS[device.vendor] == platform]
        if len(fitting) < devices:
            refusals.refuse(
                "AP0407",
                "hardware.devices" if profile.hardware.devices != "auto" else "parallelism.tensor",
                f"{devices} devices are wanted, {hardware.name} has {len(fitting)}",
                "lower hardware.devices and parallelism, or plan for a larger machine",
            )
        used = _chosen(fitting, profile.hardware.devices, devices, refusals)
        arch = used[0].arch
        memory, available = min(device.memory for device in used), min(device.free for device in used)
    arch_reason = "what the machine has" if profile.hardware.arch == "auto" else "written in the profile"
    if profile.hardware.arch != "auto":
        if not _computes(arch, profile.hardware.arch):
            refusals.refuse(
                "AP0407",
                "hardware.arch",
                f'"{profile.hardware.arch}" is wanted, {hardware.name} has {arch}',
                "write auto, or plan for a machine that has it",
            )
        arch = profile.hardware.arch
    features = frozenset(hardware.cpu_features)
    return Machine(
        platform, reason, arch, arch_reason, devices, devices_reason, memory, available, hardware.cores, features
    )


def share_of_replica(machine: Machine, replicas: int, refusals: Refusals) -> Machine:
    """What each data-parallel replica has of the host; on accelerators each has devices of its own."""
    if replicas == 1 or machine.platform != "cpu":
        return machine
    if replicas > machine.cores:
        fact = f"{replicas} replicas want a core each, the machine has {machine.cores}"
        refusals.refuse("AP0407", "parallelism.data", fact, f"write {machine.cores} or less")
    return replace(
        machine,
        memory=machine.memory // replicas,
        available=machine.available // replicas,
        cores=machine.cores // replicas,
    )


def _computes(found: str, wanted: str) -> bool:
    """A level of x86-64 holds those below it; everything else is itself alone."""
    level = "x86-64-v"
    return found == wanted or (found.startswith(level) and wanted.startswith(level) and wanted < found)


def _platform(profile: Profile, hardware: HardwareSnapshot, forecast: bool, refusals: Refusals) -> tuple[str, str]:
    wanted, found = profile.hardware.platform, hardware.best_platform
    if wanted == "auto":
        if found == "cpu":
            return "cpu", "the machine has no accelerator"
        if forecast or found in NATIVE_PLATFORMS:
            return found, f"the machine has {len(hardware.accelerators)} × {hardware.accelerators[0].name}"
        unused = hardware.accelerators[0].name
        return "cpu", f"the native engine of this release computes on the CPU; {unused} is left unused"
    if wanted != "cpu" and wanted != found:
        refusals.refuse(
            "AP0407", "hardware.platform", f'"{wanted}" is wanted, {hardware.name} offers {found}', "write auto or cpu"
        )
    if wanted not in NATIVE_PLATFORMS and not forecast:
        refusals.refuse(
            "AP0407",
            "hardware.platform",
            f'"{wanted}" is not a platform of the native engine of this release',
            f"write {' or '.join(NATIVE_PLATFORMS)}",
        )
    return wanted, "written in the profile"


def _devices(profile: Profile, wanted: int) -> tuple[int, str]:
    match profile.hardware.devices:
        case "auto":
            return wanted, "one engine on one device" if wanted == 1 else f"parallelism spreads the model over {wanted}"
        case int() as count:
            return count, "written in the profile"
        case numbers:
            return len(numbers), "written in the profile"


def _chosen(found: list[Accelerator], wanted: object, count: int, refusals: Refusals) -> list[Accelerator]:
    if not isinstance(wanted, tuple):
        return found[:count]
    if max(wanted) >= len(found):
        refusals.refuse(
            "AP0407",
            "hardware.devices",
            f"device {max(wanted)} is wanted, there are {len(found)}",
            "devices count from 0",
        )
    return [found[index] for index in wanted]
