"""A wheel through this machine's pip: starts the child, passes its progress on, turns its failures into diagnostics."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from appliance.child import command, environment
from appliance.source import cache
from appliance.source.base import Want, refuse

SETTINGS = "see `pip config list` for the indexes, proxy and certificates in use"


def fetch_wheel(distribution: str, version: str, folder: Path, want: Want) -> Path:
    """The verified wheel in `folder`, as a `.part` file or under its name; the caller removes it."""
    if importlib.util.find_spec("pip") is None:
        fix = f"run `{Path(sys.executable).name} -m ensurepip`, or make the virtual environment with pip"
        refuse(want.position, "AP0506", "this Python has no pip, which fetches pypi: sources", fix)
    message = _through_child(distribution, version, folder, want)
    if message.get("error") == "internals":
        want.progress.note(
            "this pip is unknown here: downloading through `pip download`, an interrupted pull starts again"
        )
        return _through_pip_download(distribution, version, folder, want)
    if "error" in message:
        _refuse(message, f"{distribution}=={version}", folder, want)
    return Path(message["wheel"])


def _through_child(distribution: str, version: str, folder: Path, want: Want) -> dict[str, Any]:
    """The child's last word: `wheel`, or `error` with `text`."""
    wish = json.dumps({"distribution": distribution, "version": version, "folder": str(folder)})
    message: dict[str, Any] = {}
    with subprocess.Popen(
        command("appliance.source.pip_child"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as child:
        assert child.stdin and child.stdout and child.stderr
        try:
            child.stdin.write(wish + "\n")
            child.stdin.close()
            with want.progress.meter(f"downloading {distribution} {version}") as meter:
                for line in child.stdout:
                    message = json.loads(line)
                    if message.get("resumed"):
                        want.progress.note(f"resuming at {message['done'] / 1e6:,.1f} MB")
                    if "done" in message:
                        meter.update(message["done"], message["total"])
            trace = child.stderr.read().strip()
        except BaseException:
            child.terminate()
            raise
    if "wheel" not in message and "error" not in message:
        last = trace.splitlines()[-1] if trace else f"it ended with code {child.returncode}"
        return {"error": "network", "text": f"the download process failed: {last}"}
    return message


def _through_pip_download(distribution: str, version: str, folder: Path, want: Want) -> Path:
    arguments = ["--no-deps", "--no-input", "--no-cache-dir", "--only-binary=:all:", "--progress-bar=off", "--quiet"]
    target = folder / "pip"
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "pip", "download", *arguments, "-d", str(target), f"{distribution}=={version}"],
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = sorted(target.glob("*.whl"))
    if ran.returncode or not wheels:
        errors = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
        text = re.sub(r"//[^/@\s]+@", "//***@", errors[-1] if errors else "pip download failed")
        refuse(want.position, "AP0506", text.removeprefix("ERROR: "), SETTINGS)
    return wheels[0]


def _refuse(message: dict[str, Any], wheel: str, folder: Path, want: Want) -> None:
    kind, text = message["error"], str(message.get("text", ""))
    if kind == "not_found":
        refuse(want.position, "AP0504", f"no wheel {wheel} on the indexes that pip knows here", SETTINGS)
    if kind == "hash":
        refuse(
            want.position, "AP0503", f"{text}; the file was removed", "pull again; if it stays, the mirror is broken"
        )
    if kind == "os":
        for part in folder.glob("*.part"):
            part.unlink()
        cache.refuse_os_error(OSError(message["errno"], text), folder, want.position)
    refuse(
        want.position, "AP0506", f"cannot fetch {wheel}: {text}", f"pull again to go on where it stopped; {SETTINGS}"
    )
