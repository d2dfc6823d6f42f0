"""`render systemd`: a unit for a profile in /etc/appliance, under a user of its own that exists while it runs."""

import math
from pathlib import Path

from appliance.diagnostics import Diagnostic, Severity
from appliance.profile.types import host_port

from .base import Options, Rendered, Subject
from .container import references
from .names import data_key, dns_label
from .needs import NamedFile, local_sources, secret_files, secret_variables
from .sizing import LEAVING, sizing

PROGRAM = "/opt/appliance/bin/appliance"
FOLDER = "/etc/appliance"
HARDENING = (
    "DynamicUser=yes",
    "NoNewPrivileges=yes",
    "ProtectSystem=strict",
    "ProtectHome={home}",
    "ProtectKernelTunables=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelLogs=yes",
    "ProtectControlGroups=yes",
    "ProtectClock=yes",
    "ProtectHostname=yes",
    "PrivateTmp=yes",
    "PrivateDevices={private}",
    "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK",
    "RestrictNamespaces=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "LockPersonality=yes",
    "SystemCallArchitectures=native",
    "SystemCallFilter=@system-service",
    "CapabilityBoundingSet={capabilities}",
    "AmbientCapabilities={capabilities}",
    "UMask=0077",
)
DEVICES = {
    "cuda": ("char-nvidia-frontend", "char-nvidia-uvm", "char-nvidia", "char-nvidia-caps"),
    "rocm": ("char-drm", "/dev/kfd"),
    "xpu": ("char-drm",),
}


class Systemd:
    def render(self, subject: Subject, options: Options) -> Rendered:
        _refuse_what_systemd_lacks(subject, options)
        name, sizes = dns_label(subject.profile.name), sizing(subject)
        keys = secret_files(subject)
        header = [
            f"# Written by `{subject.command}`; edit the profile, not this file.",
            f"# Install as /etc/systemd/system/{name}.service, the profile as {FOLDER}/{name}.yaml, the program below",
            f"# {Path(PROGRAM).parents[1]} (python -m venv and pip install), variables such as keys in "
            f"{FOLDER}/{name}.env (mode 0600).",
        ]
        unit = [
            "[Unit]",
            f"Description=The appliance: {subject.profile.name}",
            "Wants=network-online.target",
            "After=network-online.target",
            "StartLimitIntervalSec=10min",
            "StartLimitBurst=5",
        ]
        service = [
            "[Service]",
            "Type=exec",
            f"ExecStart={PROGRAM} up {FOLDER}/{name}.yaml --state-dir /var/lib/appliance/{name}",
            "ExecReload=/bin/kill -HUP $MAINPID",
            "KillMode=mixed",
            f"TimeoutStopSec={math.ceil(subject.profile.reload.drain) + LEAVING}",
            "Restart=on-failure",
            "RestartSec=5",
            f"StateDirectory=appliance/{name}",
            "StateDirectoryMode=0700",
            f"CacheDirectory=appliance/{name}",
            f"Environment=APPLIANCE_CACHE=/var/cache/appliance/{name}",
            f"Environment=HF_HOME=/var/cache/appliance/{name}/huggingface",
            f"Environment=HOME=/var/cache/appliance/{name}",
            f"EnvironmentFile=-{FOLDER}/{name}.env",
            *(f"LoadCredential={_credential(key)}:{_escape(_key_source(key, name))}" for key in keys),
            *([f"MemoryMax={sizes.memory}"] if sizes.limited else []),
            *_hardening(subject, bool(sizes.devices)),
        ]
        install = ["[Install]", "WantedBy=multi-user.target"]
        text = "\n".join([*header, "", *unit, "", *service, "", *install, ""])
        return Rendered(text, tuple(_remarks(subject, keys)))


def _refuse_what_systemd_lacks(subject: Subject, options: Options) -> None:
    given = {"image": options.image, "namespace": options.namespace, "replicas": options.replicas > 1}
    for option, value in {**given, "monitor": options.monitor}.items():
        if value:
            subject.refuse("AP0806", "", f"--{option}: a unit has nothing like it", "leave it out")
    names: dict[str, NamedFile] = {}
    for key in secret_files(subject):
        if (known := names.setdefault(_credential(key), key)).file != key.file:
            fact = f"{key.file} and {known.file} would be one credential, {_credential(key)}"
            subject.refuse("AP0804", key.path, fact, "give one of the files another name")
    if subject.profile.parallelism.nodes > 1:
        subject.refuse("AP0806", "parallelism.nodes", "a unit runs on one machine", "render kubernetes")


def _hardening(subject: Subject, devices: bool) -> list[str]:
    platform = subject.plan.machine.platform
    _, port = host_port(subject.profile.security.bind)
    capabilities = "CAP_NET_BIND_SERVICE" if 0 < port < 1024 else ""
    values = {
        "private": "no" if devices else "yes",
        "home": "read-only" if _in_home(subject) else "yes",
        "capabilities": capabilities,
    }
    allowed = [f"DeviceAllow={device} rw" for device in DEVICES[platform]] if devices else []
    groups = ["SupplementaryGroups=video render"] if platform in ("rocm", "xpu") and devices else []
    return [*(line.format(**values) for line in HARDENING), *allowed, *groups]


def _in_home(subject: Subject) -> bool:
    return any(named.file.parts[1:2] in (("home",), ("root",)) for named in local_sources(subject))


def _credential(key: NamedFile) -> str:
    return data_key(key.file.name)


def _remarks(subject: Subject, keys: list[NamedFile]) -> list[Diagnostic]:
    found = []
    for key in keys:
        place = _credentials(dns_label(subject.profile.name))
        if key.file.parent != place:
            fact = f"{key.file} is read by systemd and handed to the unit as {place / _credential(key)}"
            fix = f"write file: {place / _credential(key)}, filled from {FOLDER}/keys"
            found.append(subject.remark("AP0810", Severity.WARNING, key.path, fact, fix))
    for named in local_sources(subject):
        fact = f"{named.file} has to be readable by the unit's own user"
        found.append(subject.remark("AP0802", Severity.NOTE, named.path, fact, "chmod -R a+rX it"))
    for path in (*(named.path for named in local_sources(subject)), "model.chat_template"):
        text = subject.written(path)
        if text and not text.startswith("/"):
            fact = f'"{text}" starts at the folder or home of who runs it, in the unit at {FOLDER}'
            found.append(subject.remark("AP0804", Severity.WARNING, path, fact, "write an absolute path"))
    needed = [*references(subject)[0], *secret_variables(subject)]
    if needed:
        fact = f"the profile wants the environment variables {', '.join(needed)}"
        fix = f"set them in {FOLDER}/{dns_label(subject.profile.name)}.env"
        found.append(subject.remark("AP0807", Severity.NOTE, "", fact, fix))
    return found


def _credentials(name: str) -> Path:
    """Where systemd puts the credentials of a unit of the system."""
    return Path(f"/run/credentials/{name}.service")


def _key_source(key: NamedFile, name: str) -> str:
    return f"{FOLDER}/keys/{_credential(key)}" if key.file.parent == _credentials(name) else str(key.file)


def _escape(text: str) -> str:
    return text.replace("%", "%%")
