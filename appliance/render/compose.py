"""`render compose`: one service of a compose file that lies beside the profile or elsewhere on the same machine."""

import os
from pathlib import Path
from typing import Any

from appliance.diagnostics import Diagnostic, Severity
from appliance.profile.types import host_port

from . import container
from .base import Options, Rendered, Subject
from .names import data_key, dns_label
from .needs import fetching_variables, secret_variables
from .sizing import MIB, Sizing, sizing
from .yaml_text import yaml_text

ASK_READY = "import urllib.request as u; u.urlopen('http://127.0.0.1:{port}/ready', timeout=4)"
DEVICE_FILES = {"rocm": ("/dev/kfd", "/dev/dri"), "xpu": ("/dev/dri",)}
RENDER_GROUP = "${RENDER_GID:?the number that `getent group render` shows on this machine}"
"""The devices belong to a group of the host that has another number, or is missing, in an image."""


class Compose:
    def render(self, subject: Subject, options: Options) -> Rendered:
        _refuse_what_compose_lacks(subject, options)
        name, sizes = dns_label(subject.profile.name), sizing(subject)
        secrets = {data_key(str(key.file).strip("/")): str(key.file) for key in container.mounted_secrets(subject)}
        tree: dict[str, Any] = {"name": name, "services": {"appliance": _service(subject, options, sizes, secrets)}}
        tree["volumes"] = {"state": {}, "cache": {}}
        if secrets:
            tree["secrets"] = {key: {"file": _escape(path)} for key, path in secrets.items()}
        header = [
            f"Written by `{subject.command}`; edit the profile, not this file.",
            "The profile's folder is mounted, not the file: a file that an editor replaces would never arrive.",
            f"Startup budget: {sizes.boot_seconds} s = {sizes.boot_reason}.",
        ]
        return Rendered(yaml_text(header, [tree]), (*container.remarks(subject), *_remarks(subject)))


def _refuse_what_compose_lacks(subject: Subject, options: Options) -> None:
    if options.replicas > 1:
        subject.refuse("AP0806", "", "--replicas: copies would want one port of this machine", "render kubernetes")
    if options.namespace is not None:
        subject.refuse("AP0806", "", "--namespace: compose has none", "leave it out")
    if options.monitor:
        subject.refuse("AP0806", "", "--monitor: compose has nothing like it", "leave it out")
    if subject.profile.parallelism.nodes > 1:
        fact = "a compose file runs on one machine"
        subject.refuse("AP0806", "parallelism.nodes", fact, "render kubernetes")


def _service(subject: Subject, options: Options, sizes: Sizing, secrets: dict[str, str]) -> dict[str, Any]:
    host, port = host_port(subject.profile.security.bind)
    shown = f"[{host}]" if ":" in host else host
    service: dict[str, Any] = {
        "image": container.image(subject, options),
        "command": [_escape(word) for word in container.arguments(Path(subject.document.file).name)],
        "user": f"{container.USER}:{container.USER}",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "init": True,
        "restart": "unless-stopped",
        "stop_grace_period": f"{sizes.stop_seconds}s",
        "ports": [f"{shown}:{port}:{container.PORT}"],
        "environment": _environment(subject),
        "volumes": _volumes(subject, options),
        "tmpfs": ["/tmp"],
        "healthcheck": {
            "test": ["CMD", "python", "-c", ASK_READY.format(port=container.PORT)],
            "interval": "10s",
            "timeout": "5s",
            "retries": 3,
            "start_period": f"{sizes.boot_seconds}s",
        },
    }
    if secrets:
        service["secrets"] = [{"source": key, "target": _escape(path)} for key, path in secrets.items()]
    if sizes.shared_memory:
        service["shm_size"] = sizes.shared_memory
    return service | _devices(sizes, subject.plan.machine.platform)


def _environment(subject: Subject) -> list[str]:
    """A name without a value takes that of the shell, or of the file .env beside the compose file."""
    fixed = [f"{name}={value}" for name, value in container.ENVIRONMENT.items()]
    needed, optional = container.references(subject)
    passed = dict.fromkeys([*secret_variables(subject), *needed, *optional, *fetching_variables(subject)])
    return [*fixed, *passed]


def _volumes(subject: Subject, options: Options) -> list[dict[str, Any]]:
    folder = os.path.relpath(subject.folder, (options.output or subject.folder / "x").absolute().parent)
    here = "." if folder == "." else folder if folder.startswith("..") else f"./{folder}"
    mounts = [_bind(here, container.CONFIG)]
    container.chat_template(subject)
    mounts += [_bind(str(named.file), str(named.file)) for named in container.local_folders(subject).values()]
    mounts.append({"type": "volume", "source": "state", "target": container.STATE})
    mounts.append({"type": "volume", "source": "cache", "target": container.CACHE})
    return mounts


def _bind(source: str, target: str) -> dict[str, Any]:
    return {"type": "bind", "source": _escape(source), "target": _escape(target), "read_only": True}


def _devices(sizes: Sizing, platform: str) -> dict[str, Any]:
    if not sizes.devices:
        limits = {"cpus": str(sizes.cores), "memory": f"{sizes.memory // MIB}m"}
        return {"deploy": {"resources": {"limits": limits}}}
    if platform == "cuda":
        reserved = {"driver": "nvidia", "count": sizes.devices, "capabilities": ["gpu"]}
        return {"deploy": {"resources": {"reservations": {"devices": [reserved]}}}}
    return {"devices": [f"{file}:{file}" for file in DEVICE_FILES[platform]], "group_add": ["video", RENDER_GROUP]}


def _remarks(subject: Subject) -> list[Diagnostic]:
    found = []
    host, _ = host_port(subject.profile.security.bind)
    if not subject.profile.security.api_keys and host not in ("127.0.0.1", "localhost", "::1"):
        fact = f"the port is published on {host}, and no API key is asked for"
        found.append(
            subject.remark(
                "AP0801", Severity.WARNING, "security.api_keys", fact, "set security.api_keys: [{env: NAME}]"
            )
        )
    for named in container.local_folders(subject).values():
        fact = f"{named.file} is read from the machine that runs this file"
        fix = "put the files there, or use a hf: or pypi: source"
        found.append(subject.remark("AP0802", Severity.WARNING, named.path, fact, fix))
    for key in container.mounted_secrets(subject):
        fact = f"{key.file} has to be readable by user {container.USER} of the container"
        found.append(subject.remark("AP0808", Severity.NOTE, key.path, fact, f"chown {container.USER} {key.file}"))
    return found


def _escape(text: str) -> str:
    """Compose replaces $NAME in every value."""
    return text.replace("$", "$$")
