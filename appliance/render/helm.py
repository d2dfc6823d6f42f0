"""`render helm`: the values with which the chart of deploy/helm makes what `render kubernetes` writes."""

from typing import Any

from . import container
from .base import Options, Rendered, Subject
from .kube_pod import (
    PROBE_SECONDS,
    extra_environment,
    extra_items,
    extra_volumes,
    pod_seconds,
    resources,
    start_deadline,
)
from .kubernetes import make_pod, monitor_authorization, object_remarks, provided, rollout
from .sizing import GIB
from .yaml_text import yaml_text


class Helm:
    def render(self, subject: Subject, options: Options) -> Rendered:
        if options.namespace is not None:
            subject.refuse("AP0806", "", "--namespace: Helm takes it when it installs", "helm install -n NAMESPACE")
        if subject.profile.parallelism.nodes > 1:
            fact = "the chart runs copies on one machine each"
            subject.refuse("AP0806", "parallelism.nodes", fact, "render kubernetes")
        pod = make_pod(subject, options)
        volumes = extra_volumes(pod)
        values: dict[str, Any] = {
            "profile": subject.text,
            "extraData": container.template_data(subject),
            "extraItems": extra_items(pod),
            "image": pod.image,
            "replicas": options.replicas,
            "rollout": rollout(pod),
            "startupFailures": pod.sizes.boot_seconds // PROBE_SECONDS,
            "progressDeadlineSeconds": start_deadline(pod),
            "terminationGracePeriodSeconds": pod_seconds(pod),
            "resources": resources(pod),
            "cacheSize": f"{pod.sizes.cache // GIB}Gi",
            "environment": {"configMap": pod.environment, "optional": not container.references(subject)[0]},
            "env": extra_environment(pod),
            "volumes": [volume for volume, _ in volumes],
            "volumeMounts": [mount for _, mount in volumes],
            "monitor": {"enabled": options.monitor, "authorization": monitor_authorization(subject, pod.secret)},
        }
        header = [
            f"Written by `{subject.command}`; edit the profile, not this file.",
            f"helm upgrade --install {pod.name} deploy/helm/appliance --values THIS_FILE",
            *(f"To be provided: {what}." for what in provided(pod)),
        ]
        return Rendered(yaml_text(header, [values]), (*container.remarks(subject), *object_remarks(pod)))
