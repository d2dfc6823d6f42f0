"""KAITO: Workspace and InferenceSet, beside the ConfigMap with the engine's options."""

from appliance.migrations.dialects.manifests import manifest_dialect

dialect = manifest_dialect("kaito", ("kaito.sh",))
