"""The shape of the repository: what may import what, what ships in the wheel, what stays free of torch."""

import ast
import importlib.util
import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "kernels", "migrations", "schemas", "profiles")
SKIPPED = {"__pycache__"}

# room -> what it may import beside itself, by the start of the name after `appliance.`
LIGHT_ENGINE = tuple(
    f"engine.{name}"
    for name in ("config", "logs", "protocol", "checkpoint", "tokenizer", "decide", "lora.config", "lora.stored")
)
FACTS = (*LIGHT_ENGINE, "kernels.kv")
COMMON = ("diagnostics", "api_key")
PROFILE = (*COMMON, "profile", "migrations", "schemas")
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "kernels": (),
    "schemas": (),
    "profiles": (),
    "migrations": (*COMMON, "schemas"),
    "engine": ("kernels",),
    "appliance.diagnostics": (),
    "appliance.child": (),
    "appliance.api_key": (),
    "appliance.codes": (*COMMON, "migrations"),
    "appliance.profile": (*PROFILE, *FACTS),
    "appliance.validate": (*PROFILE, *FACTS),
    "appliance.migrate": (*PROFILE, *FACTS, "validate"),
    "appliance.plan": (*PROFILE, *FACTS, "validate", "server.config", "vllm.config"),
    "appliance.source": (*COMMON, "profile", "child"),
    "appliance.server": (*COMMON, *FACTS, "engine.client", "engine.streams", "vllm.config", "vllm.transport"),
    "appliance.vllm": (*COMMON, *LIGHT_ENGINE, "child"),
    "appliance.render": (*PROFILE, *FACTS, "validate", "plan", "server.config", "vllm.config"),
    "appliance.supervise": (
        *PROFILE,
        *FACTS,
        "validate",
        "plan",
        "source",
        "server.config",
        "server.control",
        "server.board",
        "server.board",
        "vllm.config",
        "render",
        "child",
        "engine.client",
        "engine.streams",
    ),
    "appliance.cli": ("",),
    "appliance.__main__": ("cli",),
    "appliance.__init__": (),
}
LIGHT_FILES = (
    "engine/config.py",
    "engine/logs.py",
    "engine/protocol.py",
    "engine/client.py",
    "engine/streams.py",
    "engine/lora/config.py",
    "engine/lora/stored.py",
)
LIGHT_FOLDERS = ("engine/checkpoint", "engine/tokenizer", "engine/decide", "migrations")


def sources(*tops: str) -> list[Path]:
    found = {path for top in tops for path in (ROOT / top).rglob("*.py")}
    return sorted(path.relative_to(ROOT) for path in found if not SKIPPED & set(path.parts))


def module_name(path: Path) -> str:
    """As it is imported: appliance.engine.core.types."""
    parts = list(path.with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts if parts[0] == "appliance" else ["appliance", *parts])


def room_of(path: Path) -> str:
    if path.parts[0] != "appliance" or len(path.parts) == 1:
        return path.parts[0]
    return f"appliance.{path.with_suffix('').parts[1]}"


def imports(path: Path) -> set[str]:
    """Absolute names of all imports, relative ones resolved."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(), str(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            stem = ".".join(part for part in (base, node.module or "") if part)
            found |= {f"{stem}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize(
    "path", [p for p in sources("appliance", *ROOMS) if p.name != "__init__.py" or len(p.parts) > 2], ids=str
)
def test_imports_go_downwards(path: Path) -> None:
    room = room_of(path)
    own = room.removeprefix("appliance.")
    for name in imports(path):
        head, _, rest = name.partition(".")
        assert head not in (*ROOMS, "tests"), f"{name}: write appliance.{name} (a bare room name loads a second copy)"
        if head != "appliance" or rest in ("", "__version__") or (rest == own or rest.startswith(f"{own}.")):
            continue
        assert not rest.startswith(("appliance.", "tests.")), f"{path}: no package is called {name}"
        assert any(rest == may or rest.startswith(f"{may}.") or not may for may in MAY_IMPORT[room]), (
            f"{path} imports upwards: {name}"
        )


@pytest.mark.parametrize("room", ROOMS)
def test_room_is_no_package_of_its_own(room: str) -> None:
    """kernels/__init__.py would hide Hugging Face's `kernels`, which transformers imports when it is installed."""
    assert not (ROOT / room / "__init__.py").exists()


def test_top_level_kernels_is_not_ours() -> None:
    spec = importlib.util.find_spec("kernels")
    assert spec is None or spec.origin is None or ROOT not in Path(spec.origin).parents


def test_control_plane_needs_no_torch() -> None:
    """Every module of it is imported in one process, with torch and transformers forbidden."""
    light = [path for path in sources("appliance", *LIGHT_FOLDERS) if path.name != "__main__.py"]
    light += [Path(name) for name in LIGHT_FILES] + [path for path in sources("kernels/kv") if path.name == "base.py"]
    names = [module_name(path) for path in light]
    script = (
        "import importlib, json, sys\n"
        "sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "for name in json.loads(sys.argv[1]): importlib.import_module(name)\n"
        "print(len(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, json.dumps(names)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert len(names) > 50


def test_every_folder_is_listed_for_the_wheel() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    folders = {module_name(path.parent / "__init__.py") for path in sources("appliance", *ROOMS)}
    assert folders <= listed, f"add to [tool.setuptools] packages: {sorted(folders - listed)}"
    gone = listed - folders - {f"appliance.{room}" for room in ROOMS}
    assert not gone, f"no such folder: {sorted(gone)}"


def test_wheel_holds_every_module_and_data_file(tmp_path: Path) -> None:
    """Built from a copy: setuptools leaves a build folder behind, and takes deleted modules from an old one."""
    copy = tmp_path / "copy"
    found = [path for top in ("appliance", *ROOMS) for path in (ROOT / top).rglob("*") if path.is_file()]
    files = [path.relative_to(ROOT).as_posix() for path in found if not SKIPPED & set(path.parts)]
    for name in [*files, "pyproject.toml", "README.md"]:
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    build = "from setuptools import build_meta; import sys; print(build_meta.build_wheel(sys.argv[1]))"
    ran = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=copy, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {name if name.startswith("appliance/") else f"appliance/{name}" for name in files}
    assert expected == shipped
