"""KubeAI's Model."""

from appliance.migrations.dialects.manifests import manifest_dialect

dialect = manifest_dialect("kubeai", ("kubeai.org",))
