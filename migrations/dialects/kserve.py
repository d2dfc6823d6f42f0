"""KServe: InferenceService, LLMInferenceService and its configs, ServingRuntime."""

from appliance.migrations.dialects.manifests import manifest_dialect

dialect = manifest_dialect("kserve", ("serving.kserve.io",))
