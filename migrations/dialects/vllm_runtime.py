"""The operator of vLLM's production stack: VLLMRuntime."""

from appliance.migrations.dialects.manifests import manifest_dialect

dialect = manifest_dialect("vllm-runtime", ("production-stack.vllm.ai", "serving.vllm.ai"))
