"""NVIDIA Dynamo: DynamoGraphDeployment, DynamoComponentDeployment."""

from appliance.migrations.dialects.manifests import manifest_dialect

dialect = manifest_dialect("dynamo", ("nvidia.com",))
