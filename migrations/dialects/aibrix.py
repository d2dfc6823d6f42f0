"""AIBrix: StormService and RoleSet around pods."""

from appliance.migrations.dialects.manifests import manifest_dialect

dialect = manifest_dialect("aibrix", ("orchestration.aibrix.ai", "model.aibrix.ai"))
