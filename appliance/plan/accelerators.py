"""Accelerators of this machine: NVIDIA through NVML, AMD through the kernel's own files. None is no error."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

NVIDIA_SIGNS = ("proc/driver/nvidia/version", "dev/nvidiactl", "dev/dxg")


@dataclass(frozen=True)
class Accelerator:
    """Memory in bytes. `arch` as compilers name it: sm90, gfx950. `mig` = one slice of a partitioned device."""

    vendor: Literal["nvidia", "amd"]
    name: str
    arch: str
    memory: int
    free: int
    mig: bool = False


def find_accelerators(root: Path) -> tuple[Accelerator, ...]:
    if any((root / sign).exists() for sign in NVIDIA_SIGNS) and (found := nvidia()):
        return found
    return amd(root)


def nvidia() -> tuple[Accelerator, ...]:
    """Every device, or the slices of the devices that are partitioned; empty where the driver does not answer."""
    import pynvml  # type: ignore[import-untyped]

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        devices = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return tuple(found for device in devices for found in _nvidia_device(pynvml, device))
    except pynvml.NVMLError:
        return ()
    finally:
        pynvml.nvmlShutdown()


def _nvidia_device(nvml: Any, device: Any) -> list[Accelerator]:
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(device)
    slices = _mig_slices(nvml, device)
    found = []
    for handle in slices or [device]:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        name = nvml.nvmlDeviceGetName(handle)
        name = name.decode() if isinstance(name, bytes) else name
        found.append(
            Accelerator("nvidia", name, f"sm{major}{minor}", int(memory.total), int(memory.free), bool(slices))
        )
    return found


def _mig_slices(nvml: Any, device: Any) -> list[Any]:
    try:
        if nvml.nvmlDeviceGetMigMode(device)[0] != nvml.NVML_DEVICE_MIG_ENABLE:
            return []
        count = nvml.nvmlDeviceGetMaxMigDeviceCount(device)
    except nvml.NVMLError:
        return []
    slices = []
    for index in range(count):
        try:
            slices.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(device, index))
        except nvml.NVMLError:
            continue
    return slices


def amd(root: Path) -> tuple[Accelerator, ...]:
    nodes = sorted(root.glob("sys/class/kfd/kfd/topology/nodes/*/properties"), key=lambda path: int(path.parent.name))
    return tuple(found for node in nodes if (found := _amd_node(root, node)) is not None)


def _amd_node(root: Path, properties: Path) -> Accelerator | None:
    facts = _pairs(properties)
    version = facts.get("gfx_target_version", 0)
    if not version or not facts.get("simd_count"):
        return None
    banks = (_pairs(bank).get("size_in_bytes", 0) for bank in properties.parent.glob("mem_banks/*/properties"))
    device = root / f"sys/class/drm/renderD{facts.get('drm_render_minor', 0)}/device"
    total = _number(device / "mem_info_vram_total") or sum(banks)
    used = _number(device / "mem_info_vram_used") or 0
    arch = gfx_name(version)
    return Accelerator("amd", _text(device / "product_name") or f"AMD {arch}", arch, total, max(0, total - used))


def gfx_name(version: int) -> str:
    """90402 -> gfx942: two decimal digits each for minor and stepping, written in hexadecimal."""
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def _pairs(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _text(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _number(path: Path) -> int:
    text = _text(path)
    return int(text) if text.isdigit() else 0


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
