"""Kubernetes: Deployment, StatefulSet, DaemonSet, Job, Pod, LeaderWorkerSet, lists of them, ConfigMaps."""

from appliance.migrations.dialects.manifests import manifest_dialect

dialect = manifest_dialect("kubernetes", ())
