"""Named machines to plan for without having them. Memory as the driver reports it, less what an idle system takes."""

from .accelerators import Accelerator
from .hardware import HardwareSnapshot

MIB, GIB = 2**20, 2**30
IDLE_DEVICE = 512 * MIB
IDLE_HOST = 0.06

# name: (vendor, marketing name, arch, MiB)
DEVICES = {
    "a100": ("nvidia", "NVIDIA A100-SXM4-80GB", "sm80", 81920),
    "l4": ("nvidia", "NVIDIA L4", "sm89", 23034),
    "l40s": ("nvidia", "NVIDIA L40S", "sm89", 46068),
    "rtx4090": ("nvidia", "NVIDIA GeForce RTX 4090", "sm89", 24564),
    "h100": ("nvidia", "NVIDIA H100 80GB HBM3", "sm90", 81559),
    "h200": ("nvidia", "NVIDIA H200", "sm90", 143771),
    "b200": ("nvidia", "NVIDIA B200", "sm100", 183359),
    "gb200": ("nvidia", "NVIDIA GB200", "sm100", 189471),
    "b300": ("nvidia", "NVIDIA B300", "sm103", 275040),
    "rtx5090": ("nvidia", "NVIDIA GeForce RTX 5090", "sm120", 32607),
    "mi300": ("amd", "AMD Instinct MI300X", "gfx942", 196592),
    "mi325": ("amd", "AMD Instinct MI325X", "gfx942", 262128),
    "mi355": ("amd", "AMD Instinct MI355X", "gfx950", 294896),
}
AVX2 = ("avx2", "fma", "f16c")
AVX512 = (*AVX2, "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512cd", "avx512_vnni")
ICE_LAKE = ("Intel Xeon (Ice Lake)", "x86-64-v4", AVX512)
SAPPHIRE = ("Intel Xeon (Sapphire Rapids)", "x86-64-v4",
            (*AVX512, "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"))  # fmt: skip
ZEN2 = ("AMD EPYC (Zen 2)", "x86-64-v3", AVX2)
ZEN4 = ("AMD EPYC (Zen 4)", "x86-64-v4", (*AVX512, "avx512_bf16"))
DESKTOP = ("AMD Ryzen (Zen 4)", "x86-64-v4", (*AVX512, "avx512_bf16"))
LAPTOP = ("Intel Core (AVX2)", "x86-64-v3", AVX2)
GRACE = ("NVIDIA Grace", "aarch64", ("asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "svebf16"))

# name: (CPU, cores, host GiB, NUMA nodes, device, number of devices)
SHAPES = {
    "cpu-4c-16g": (LAPTOP, 4, 16, 1, "", 0),
    "cpu-8c-32g": (ZEN2, 8, 32, 1, "", 0),
    "cpu-16c-64g": (ZEN4, 16, 64, 1, "", 0),
    "cpu-32c-128g": (ICE_LAKE, 32, 128, 1, "", 0),
    "cpu-64c-256g": (SAPPHIRE, 64, 256, 2, "", 0),
    "l4": (ICE_LAKE, 8, 32, 1, "l4", 1),
    "l40s": (ICE_LAKE, 16, 128, 1, "l40s", 1),
    "rtx4090": (DESKTOP, 16, 64, 1, "rtx4090", 1),
    "rtx5090": (DESKTOP, 16, 64, 1, "rtx5090", 1),
    "a100x1": (ZEN2, 16, 128, 1, "a100", 1),
    "a100x8": (ZEN2, 128, 1024, 8, "a100", 8),
    "h100x1": (SAPPHIRE, 26, 200, 1, "h100", 1),
    "h100x8": (SAPPHIRE, 112, 2048, 2, "h100", 8),
    "h200x1": (SAPPHIRE, 26, 200, 1, "h200", 1),
    "h200x8": (SAPPHIRE, 112, 2048, 2, "h200", 8),
    "b200x1": (SAPPHIRE, 28, 256, 1, "b200", 1),
    "b200x8": (SAPPHIRE, 112, 2048, 2, "b200", 8),
    "b300x8": (SAPPHIRE, 128, 2048, 2, "b300", 8),
    "gb200x4": (GRACE, 144, 960, 2, "gb200", 4),
    "mi300x8": (ZEN4, 192, 2304, 2, "mi300", 8),
    "mi325x8": (ZEN4, 192, 2304, 2, "mi325", 8),
    "mi355x8": (ZEN4, 192, 3072, 2, "mi355", 8),
}


def _machine(name: str) -> HardwareSnapshot:
    (model, arch, features), cores, host, nodes, device, count = SHAPES[name]
    devices: tuple[Accelerator, ...] = ()
    if device:
        vendor, marketing, device_arch, size = DEVICES[device]
        memory = size * MIB
        found = Accelerator(
            "amd" if vendor == "amd" else "nvidia", marketing, device_arch, memory, memory - IDLE_DEVICE
        )
        devices = (found,) * count
    memory = host * GIB
    available = memory - int(memory * IDLE_HOST)
    return HardwareSnapshot(name, model, arch, features, cores, nodes, memory, available, accelerators=devices)


MACHINES: dict[str, HardwareSnapshot] = {name: _machine(name) for name in SHAPES}
