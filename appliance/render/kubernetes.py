"""`render kubernetes`: the objects that run one profile in a cluster."""

from typing import Any

from appliance.diagnostics import Diagnostic, Severity

from . import container
from .base import Options, Rendered, Subject
from .kube_pod import Pod, pod_template, start_deadline
from .kube_secrets import KeySecret, key_secret
from .names import dns_label, is_namespace
from .sizing import sizing
from .yaml_text import yaml_text

OF_A_GROUP = ("rocm", "xpu")
"""Platforms whose device files only root and a group of the node may open."""


class Kubernetes:
    def render(self, subject: Subject, options: Options) -> Rendered:
        if options.namespace is not None and not is_namespace(options.namespace):
            fact = f"--namespace {options.namespace!r} is not a DNS label"
            subject.refuse("AP0806", "", fact, "write lower-case letters, digits and dashes, 63 at most")
        _refuse_without_ray(subject)
        pod = make_pod(subject, options)
        name = pod.name
        objects = [
            _config_map(pod),
            _workload(pod, options.replicas),
            _service(name),
            _disruption_budget(name),
            *([_service_monitor(subject, name, pod.secret)] if options.monitor else []),
        ]
        for each in objects:
            each["metadata"] = _metadata(name, options.namespace)
        return Rendered(yaml_text(_header(pod), objects), (*container.remarks(subject), *object_remarks(pod)))


def make_pod(subject: Subject, options: Options) -> Pod:
    """ApplianceError for what no pod can take."""
    if options.monitor and subject.plan.value("endpoints.metrics") == "off":
        subject.refuse("AP0806", "endpoints.metrics", "--monitor wants metrics, and they are off", "switch them on")
    name = dns_label(subject.profile.name)
    return Pod(
        name,
        container.image(subject, options),
        sizing(subject),
        key_secret(subject, name),
        container.local_folders(subject),
        subject,
    )


def _metadata(name: str, namespace: str | None) -> dict[str, Any]:
    return {"name": name, **({"namespace": namespace} if namespace else {}), "labels": labels(name)}


def labels(name: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": "appliance", "app.kubernetes.io/instance": name}


def _refuse_without_ray(subject: Subject) -> None:
    """vLLM's other road wants a rank and a leader's address on the command line of every machine."""
    wanted = subject.profile.engine.vllm.options.get("distributed-executor-backend")
    if subject.profile.parallelism.nodes > 1 and wanted != "ray":
        fix = "write engine.vllm.options: {distributed-executor-backend: ray}"
        subject.refuse("AP0806", "parallelism.nodes", "pods of several machines find each other through Ray", fix)


def _config_map(pod: Pod) -> dict[str, Any]:
    data = {container.PROFILE: pod.subject.text, **container.template_data(pod.subject)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": data}


def _workload(pod: Pod, replicas: int) -> dict[str, Any]:
    nodes = pod.subject.profile.parallelism.nodes
    if nodes > 1:
        group = {
            "size": nodes,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "leaderTemplate": pod_template(pod, labels(pod.name), "leader"),
            "workerTemplate": pod_template(pod, {"app.kubernetes.io/name": "appliance-worker"}, "worker"),
        }
        spec: dict[str, Any] = {"replicas": replicas, "startupPolicy": "LeaderCreated", "leaderWorkerTemplate": group}
        return {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {},
            "spec": spec,
        }
    spec = {
        "replicas": replicas,
        "progressDeadlineSeconds": start_deadline(pod),
        "strategy": {"type": "RollingUpdate", "rollingUpdate": rollout(pod)},
        "selector": {"matchLabels": labels(pod.name)},
        "template": pod_template(pod, labels(pod.name), "alone"),
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "spec": spec}


def rollout(pod: Pod) -> dict[str, int]:
    """Devices are rarely spare, so a copy on them goes before the next one comes."""
    return {"maxSurge": 0, "maxUnavailable": 1} if pod.sizes.devices else {"maxSurge": 1, "maxUnavailable": 0}


def _service(name: str) -> dict[str, Any]:
    port = {"name": "http", "port": container.PORT, "targetPort": "http", "protocol": "TCP"}
    spec = {"type": "ClusterIP", "selector": labels(name), "ports": [port]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": spec}


def _disruption_budget(name: str) -> dict[str, Any]:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": labels(name)}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {}, "spec": spec}


def _service_monitor(subject: Subject, name: str, secret: KeySecret) -> dict[str, Any]:
    endpoint: dict[str, Any] = {"port": "http", "path": "/metrics", "interval": "15s"}
    if authorization := monitor_authorization(subject, secret):
        endpoint["authorization"] = authorization
    spec = {"selector": {"matchLabels": labels(name)}, "endpoints": [endpoint]}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor", "metadata": {}, "spec": spec}


def monitor_authorization(subject: Subject, secret: KeySecret) -> dict[str, Any]:
    """Empty where metrics want no key."""
    if secret.opens is None or subject.profile.security.metrics_open:
        return {}
    return {"type": "Bearer", "credentials": {"name": secret.name, "key": secret.opens}}


def _header(pod: Pod) -> list[str]:
    sizes = pod.sizes
    lines = [
        f"Written by `{pod.subject.command}`; edit the profile, not this file.",
        "An edit of the profile alone changes only the ConfigMap, which the running appliance follows by itself.",
        f"Startup budget: {sizes.boot_seconds} s = {sizes.boot_reason}.",
    ]
    for what in provided(pod):
        lines.append(f"To be provided: {what}.")
    return lines


def provided(pod: Pod) -> list[str]:
    found = []
    if pod.secret.entries:
        found.append(f"Secret {pod.secret.name} with the entries {', '.join(pod.secret.entries)}")
    needed, optional = container.references(pod.subject)
    if needed or optional:
        found.append(f"ConfigMap {pod.environment} with {', '.join([*needed, *optional])}")
    for volume, named in pod.folders.items():
        found.append(f"PersistentVolumeClaim {pod.claim(volume)}, which holds what belongs in {named.file}")
    if pod.sizes.devices and pod.subject.plan.machine.platform in OF_A_GROUP:
        found.append("nodes that hand devices to the pod's user (device_ownership_from_security_context)")
    return found


def object_remarks(pod: Pod) -> list[Diagnostic]:
    subject, found = pod.subject, []
    if pod.name != subject.profile.name:
        fact = f'"{subject.profile.name}" is no DNS label that begins with a letter; the objects are called {pod.name}'
        found.append(subject.remark("AP0803", Severity.NOTE, "name", fact, "rename the profile to have one name"))
    for volume, named in pod.folders.items():
        fact = f"no pod has the folder {named.file} by itself"
        fix = f"provide a PersistentVolumeClaim {pod.claim(volume)} with the files, or use a hf: or pypi: source"
        found.append(subject.remark("AP0802", Severity.WARNING, named.path, fact, fix))
    if pod.secret.entries:
        fact = f"secrets are read from the Secret {pod.secret.name}: {', '.join(pod.secret.entries)}"
        fix = f"create it: kubectl create secret generic {pod.secret.name} --from-file or --from-literal"
        found.append(subject.remark("AP0808", Severity.NOTE, "", fact, fix))
    if pod.secret.opens is None:
        fact = f"the pods listen on 0.0.0.0:{container.PORT} without a key: everything in the cluster can call them"
        fix = "set security.api_keys: [{env: NAME}]"
        found.append(subject.remark("AP0801", Severity.WARNING, "security.api_keys", fact, fix))
    return found
