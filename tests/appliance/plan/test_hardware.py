"""The snapshot: control groups, processors and accelerators from made-up file trees, and this machine for real."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from plan_inputs import SAVED

from appliance.plan import MACHINES, HardwareSnapshot, probe
from appliance.plan.accelerators import amd, gfx_name, nvidia
from appliance.plan.cgroup import Limits, read_limits
from appliance.plan.cpu import cpu_arch

GIB = 2**30
MEMINFO = (
    "MemTotal:       33554432 kB\nMemFree:         1000000 kB\nMemAvailable:   25165824 kB\nHugePages_Total:       0\n"
)
CPUINFO = (
    "processor\t: 0\nmodel name\t: Test CPU\n"
    "flags\t\t: fpu avx2 fma f16c avx512f avx512bw avx512vl avx512dq avx512cd avx512_bf16\n\n"
    "processor\t: 1\nmodel name\t: Other\nflags\t\t: fpu\n"
)
UNLIMITED_V1 = "9223372036854771712"


def tree(root: Path, files: dict[str, str]) -> Path:
    base = {"proc/meminfo": MEMINFO, "proc/cpuinfo": CPUINFO, "sys/devices/system/node/node0/cpulist": "0-7"}
    for name, text in {**base, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


V2 = {"sys/fs/cgroup/cgroup.controllers": "cpu memory", "proc/self/cgroup": "0::/\n"}


def test_machine_without_limits(tmp_path: Path) -> None:
    found = probe(tree(tmp_path, {**V2, "sys/devices/system/node/node1/cpulist": "8-15"}), cores=8)
    assert (found.cores, found.memory, found.memory_available) == (8, 32 * GIB, 24 * GIB)
    assert (found.cpu_model, found.numa_nodes, found.limited) == ("Test CPU", 2, False)
    assert "avx512_bf16" in found.cpu_features and "fpu" not in found.cpu_features


def test_container_with_version_2(tmp_path: Path) -> None:
    files = {
        "sys/fs/cgroup/cpu.max": "250000 100000",
        "sys/fs/cgroup/memory.max": str(8 * GIB),
        "sys/fs/cgroup/memory.current": str(3 * GIB),
        "sys/fs/cgroup/memory.stat": f"anon 5\ninactive_file {GIB}\n",
    }
    found = probe(tree(tmp_path, {**V2, **files}), cores=8)
    assert (found.cores, found.memory, found.memory_available, found.limited) == (2, 8 * GIB, 6 * GIB, True)


def test_service_takes_the_tightest_limit_of_its_parents(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/system.slice/a.service\n",
        "sys/fs/cgroup/system.slice/memory.max": str(4 * GIB),
        "sys/fs/cgroup/system.slice/memory.current": str(GIB),
        "sys/fs/cgroup/system.slice/a.service/memory.max": str(16 * GIB),
        "sys/fs/cgroup/system.slice/a.service/memory.current": "0",
        "sys/fs/cgroup/system.slice/a.service/cpu.max": "max 100000",
        "sys/fs/cgroup/system.slice/cpu.max": "50000 100000",
    }
    root = tree(tmp_path, {**V2, **files})
    assert read_limits(root) == Limits(cores=0.5, memory=4 * GIB, used=GIB)
    assert probe(root, cores=8).cores == 1


def test_container_with_version_1(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/docker/abc\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": str(2 * GIB),
        "sys/fs/cgroup/memory/memory.usage_in_bytes": str(GIB),
        "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 0\n",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "400000",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
    }
    found = probe(tree(tmp_path, files), cores=8)
    assert (found.cores, found.memory, found.memory_available) == (4, 2 * GIB, GIB)


def test_version_1_without_limits(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "5:memory:/\n4:cpu:/\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": UNLIMITED_V1,
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    }
    assert read_limits(tree(tmp_path, files)) == Limits()


def test_no_control_groups_at_all(tmp_path: Path) -> None:
    assert read_limits(tmp_path) == Limits()


def test_arm_processor(tmp_path: Path) -> None:
    text = "processor\t: 0\nFeatures\t: fp asimd asimdhp i8mm bf16 sve\nCPU implementer\t: 0x41\n"
    found = probe(tree(tmp_path, {"proc/cpuinfo": text}), cores=4)
    assert found.cpu_features == ("asimd", "asimdhp", "i8mm", "bf16", "sve")
    assert cpu_arch("aarch64", found.cpu_features) == "aarch64"


@pytest.mark.parametrize(
    ("features", "level"),
    [((), "x86-64-v2"), (("avx2", "fma", "f16c"), "x86-64-v3"), (MACHINES["cpu-64c-256g"].cpu_features, "x86-64-v4")],
)
def test_x86_levels(features: tuple[str, ...], level: str) -> None:
    assert cpu_arch("x86_64", features) == level


def test_amd_accelerators(tmp_path: Path) -> None:
    node = "sys/class/kfd/kfd/topology/nodes"
    files = {
        f"{node}/0/properties": "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n",
        f"{node}/1/properties": "simd_count 1024\ngfx_target_version 90500\ndrm_render_minor 128\n",
        f"{node}/2/properties": "simd_count 1024\ngfx_target_version 90402\ndrm_render_minor 129\n",
        f"{node}/2/mem_banks/0/properties": f"heap_type 1\nsize_in_bytes {192 * GIB}\n",
        "sys/class/drm/renderD128/device/mem_info_vram_total": str(288 * GIB),
        "sys/class/drm/renderD128/device/mem_info_vram_used": str(GIB),
        "sys/class/drm/renderD128/device/product_name": "AMD Instinct MI355X",
    }
    first, second = amd(tree(tmp_path, files))
    assert (first.name, first.arch, first.memory, first.free) == ("AMD Instinct MI355X", "gfx950", 288 * GIB, 287 * GIB)
    assert (second.name, second.arch, second.memory) == ("AMD gfx942", "gfx942", 192 * GIB)
    assert probe(tmp_path, cores=1).best_platform == "rocm"


@pytest.mark.parametrize(
    ("version", "name"), [(90010, "gfx90a"), (90402, "gfx942"), (110000, "gfx1100"), (120001, "gfx1201")]
)
def test_gfx_names(version: int, name: str) -> None:
    assert gfx_name(version) == name


class RefusedError(Exception):
    pass


def nvml(**functions: Any) -> SimpleNamespace:
    """Two devices, the second cut in two slices."""

    def memory(handle: str) -> SimpleNamespace:
        size = 40 * GIB if "slice" in handle else 80 * GIB
        return SimpleNamespace(total=size, free=size - GIB)

    def slice_of(device: str, index: int) -> str:
        if index > 1:
            raise RefusedError
        return f"{device} slice {index}"

    base = {
        "NVMLError": RefusedError,
        "NVML_DEVICE_MIG_ENABLE": 1,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda index: f"device {index}",
        "nvmlDeviceGetCudaComputeCapability": lambda device: (9, 0),
        "nvmlDeviceGetMemoryInfo": memory,
        "nvmlDeviceGetName": lambda handle: f"NVIDIA {handle}",
        "nvmlDeviceGetMigMode": lambda device: (1, 1) if device == "device 1" else (0, 0),
        "nvmlDeviceGetMaxMigDeviceCount": lambda device: 7,
        "nvmlDeviceGetMigDeviceHandleByIndex": slice_of,
    }
    return SimpleNamespace(**{**base, **functions})


def test_nvidia_accelerators_and_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    found = nvidia()
    assert [(device.name, device.arch, device.memory, device.mig) for device in found] == [
        ("NVIDIA device 0", "sm90", 80 * GIB, False),
        ("NVIDIA device 1 slice 0", "sm90", 40 * GIB, True),
        ("NVIDIA device 1 slice 1", "sm90", 40 * GIB, True),
    ]
    assert found[0].free == 79 * GIB


def test_a_driver_that_does_not_answer_is_no_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise RefusedError

    monkeypatch.setitem(sys.modules, "pynvml", nvml(nvmlInit=refuse))
    assert nvidia() == ()


def test_this_machine() -> None:
    found = probe()
    assert 1 <= found.cores <= 4096
    assert 0 < found.memory_available <= found.memory
    assert HardwareSnapshot.load(found.dump()) == found


@pytest.mark.parametrize("path", sorted(SAVED.glob("*.json")), ids=lambda path: path.stem)
def test_saved_snapshots_round_trip(path: Path) -> None:
    found = HardwareSnapshot.load(path.read_bytes())
    assert found.name == path.stem
    assert found.dump() == path.read_bytes()


def test_a_file_that_is_no_snapshot() -> None:
    with pytest.raises(ValueError, match="missing required field `cpu_model`"):
        HardwareSnapshot.load(b'{"name": "x"}')


def test_catalogue() -> None:
    for name, machine in MACHINES.items():
        assert machine.name == name
        assert 0 < machine.memory_available < machine.memory
        assert all(0 < device.free < device.memory for device in machine.accelerators)
    assert len(MACHINES["h100x8"].accelerators) == 8
    assert MACHINES["mi355x8"].accelerators[0].arch == "gfx950"
    assert (MACHINES["cpu-16c-64g"].cores, MACHINES["cpu-16c-64g"].memory) == (16, 64 * GIB)
