"""The pod of the appliance: one container, probes by what they mean, nothing writable but its own folders."""

from dataclasses import dataclass
from typing import Any, Literal

from .base import Subject
from .container import (
    CACHE,
    CONFIG,
    ENVIRONMENT,
    PORT,
    PROFILE,
    STATE,
    USER,
    arguments,
    chat_template,
    references,
    template_key,
)
from .kube_secrets import KeySecret, variable
from .needs import NamedFile, fetched_kinds
from .sizing import GIB, MIB, Sizing

DEVICE_RESOURCES = {"cuda": "nvidia.com/gpu", "rocm": "amd.com/gpu", "xpu": "gpu.intel.com/xe"}
RAY_PORT = 6379
PROBE_SECONDS = 10
LEAVES_BALANCERS = 5
"""Seconds between a pod's end being decided and SIGTERM: balancers learn of it meanwhile."""

Part = Literal["alone", "leader", "worker"]


@dataclass(frozen=True)
class Pod:
    name: str
    image: str
    sizes: Sizing
    secret: KeySecret
    folders: dict[str, NamedFile]
    """By volume: what the operator fills."""
    subject: Subject

    def claim(self, volume: str) -> str:
        return f"{self.name}-{volume}"

    @property
    def environment(self) -> str:
        return f"{self.name}-environment"


def pod_template(pod: Pod, labels: dict[str, str], part: Part) -> dict[str, Any]:
    volumes, mounts = _volumes(pod)
    security = {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "runAsGroup": USER,
        "fsGroup": USER,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    spec = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": pod_seconds(pod),
        "securityContext": security,
        "containers": [_container(pod, mounts, part)],
        "volumes": volumes,
    }
    return {"metadata": {"labels": labels}, "spec": spec}


def _container(pod: Pod, mounts: list[dict[str, Any]], part: Part) -> dict[str, Any]:
    serves = part != "worker"
    made: dict[str, Any] = {"name": "appliance", "image": pod.image, **_command(part)}
    if serves:
        made["ports"] = [{"name": "http", "containerPort": PORT, "protocol": "TCP"}]
    made["envFrom"] = [{"configMapRef": {"name": pod.environment, "optional": not references(pod.subject)[0]}}]
    made["env"] = [{"name": name, "value": value} for name, value in ENVIRONMENT.items()] + extra_environment(pod)
    if serves:
        made |= _probes(pod.sizes)
        made["lifecycle"] = {"preStop": {"exec": {"command": ["sleep", str(LEAVES_BALANCERS)]}}}
    made["resources"] = resources(pod)
    made["securityContext"] = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    made["volumeMounts"] = mounts
    return made


def _command(part: Part) -> dict[str, Any]:
    if part == "alone":
        return {"args": arguments()}
    if part == "worker":
        join = f'exec ray start --block --address="$LWS_LEADER_ADDRESS:{RAY_PORT}"'
        return {"command": ["sh", "-c", f"appliance pull {CONFIG}/{PROFILE} && {join}"]}
    start = f'ray start --head --port={RAY_PORT} && exec appliance "$@"'
    return {"command": ["sh", "-c", start, "sh"], "args": arguments()}


def pod_seconds(pod: Pod) -> int:
    return pod.sizes.stop_seconds + LEAVES_BALANCERS


def start_deadline(pod: Pod) -> int:
    """Seconds until a rollout counts as stuck: one start, with the pull of the image."""
    return pod.sizes.boot_seconds + 120


def extra_environment(pod: Pod) -> list[dict[str, Any]]:
    """Secrets by reference."""
    token = "hf" in fetched_kinds(pod.subject) and "HF_TOKEN" not in pod.secret.variables
    return [*pod.secret.environment(), *([variable("HF_TOKEN", pod.secret.name, True)] if token else [])]


def _probes(sizes: Sizing) -> dict[str, Any]:
    def get(path: str, period: int, failures: int) -> dict[str, Any]:
        ask = {"path": path, "port": "http"}
        return {"httpGet": ask, "periodSeconds": period, "timeoutSeconds": 5, "failureThreshold": failures}

    return {
        "startupProbe": get("/ready", PROBE_SECONDS, sizes.boot_seconds // PROBE_SECONDS),
        "readinessProbe": get("/ready", 5, 2),
        "livenessProbe": get("/health", 10, 6),
    }


def resources(pod: Pod) -> dict[str, Any]:
    sizes = pod.sizes
    own = {"cpu": str(sizes.cores), "memory": f"{sizes.memory // MIB}Mi"}
    devices = {DEVICE_RESOURCES[pod.subject.plan.machine.platform]: str(sizes.devices)} if sizes.devices else {}
    return {"requests": {**own, **devices}, "limits": {**(own if sizes.limited else {}), **devices}}


def _volumes(pod: Pod) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    items = [{"key": PROFILE, "path": PROFILE}, *extra_items(pod)]
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        # the whole folder: a ConfigMap's change is one swap of its ..data link, which single files never see
        (
            {"name": "profile", "configMap": {"name": pod.name, "items": items}},
            {"name": "profile", "mountPath": CONFIG, "readOnly": True},
        ),
        ({"name": "state", "emptyDir": {}}, {"name": "state", "mountPath": STATE}),
        (
            {"name": "cache", "emptyDir": {"sizeLimit": f"{pod.sizes.cache // GIB}Gi"}},
            {"name": "cache", "mountPath": CACHE},
        ),
        ({"name": "tmp", "emptyDir": {}}, {"name": "tmp", "mountPath": "/tmp"}),
        *extra_volumes(pod),
    ]
    return [volume for volume, _ in pairs], [mount for _, mount in pairs]


def extra_items(pod: Pod) -> list[dict[str, str]]:
    template = chat_template(pod.subject)
    return [{"key": template_key(pod.subject), "path": template}] if template else []


def extra_volumes(pod: Pod) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """(volume, mount) of what not every profile has."""
    pairs = pod.secret.mounts()
    if pod.sizes.shared_memory:
        shared = {"medium": "Memory", "sizeLimit": f"{pod.sizes.shared_memory // GIB}Gi"}
        pairs.append(({"name": "shm", "emptyDir": shared}, {"name": "shm", "mountPath": "/dev/shm"}))
    for volume, named in pod.folders.items():
        claim = {"claimName": pod.claim(volume), "readOnly": True}
        mount = {"name": volume, "mountPath": str(named.file), "readOnly": True}
        pairs.append(({"name": volume, "persistentVolumeClaim": claim}, mount))
    return pairs
