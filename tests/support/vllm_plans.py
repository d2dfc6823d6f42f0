"""Plans for backend vllm by name: together they write every field that vLLM has an option for."""

from pathlib import Path
from typing import Any

from plan_inputs import machine, make_profile

from appliance.plan import Plan, make_plan, read_checkpoint

PROFILES: dict[str, tuple[str, dict[str, Any]]] = {
    "least": ("cpu-8c-32g", {}),
    "two-copies-on-a-cpu": ("cpu-8c-32g", {"parallelism": {"data": 2}}),
    "cache": (
        "h100x1",
        {
            "kv_cache": {"dtype": "fp8", "size": "1GiB", "block_tokens": 32, "prefix_caching": False},
            "model": {"max_context": 512, "dtype": "bfloat16"},
        },
    ),
    "cache-in-tokens": ("h100x1", {"kv_cache": {"size": "4096 tokens", "mamba": {"mode": "align"}}}),
    "skipped-layers": ("h100x1", {"kv_cache": {"dtype": "fp8_e4m3", "skip_layers": [0, "sliding_window"]}}),
    "int8-and-code": ("h100x1", {"model": {"weights": "int8", "trust_remote_code": True}}),
    "names-and-adapters": (
        "h100x1",
        {"model": {"served_names": ["a", "b"], "adapters": [{"name": "polite", "source": "/adapters/polite"}]}},
    ),
    "batching": ("h100x1", {"engine": {"batching": {"max_sequences": 8, "max_tokens": 512, "chunked_prefill": True}}}),
    "whole-prompts": ("h100x1", {"engine": {"batching": {"chunked_prefill": False}}}),
    "speculation": ("h100x1", {"engine": {"speculation": {"method": "ngram", "max_tokens": 3, "lookup_max": 4}}}),
    "parsers": ("h100x1", {"parsers": {"tool": "hf", "reasoning": "hf"}}),
    "media": (
        "h100x1",
        {"security": {"media": {"domains": ["cdn.example.org"], "local_path": "/media", "max_pixels": 1000000}}},
    ),
    "devices": ("h100x8", {"hardware": {"devices": [4, 5]}, "parallelism": {"tensor": 2}}),
    "copies-on-devices": ("h100x8", {"parallelism": {"tensor": 2, "pipeline": 2, "data": 2}}),
    "nodes": (
        "h100x8",
        {
            "parallelism": {"tensor": 2, "pipeline": 2, "nodes": 2},
            "engine": {"vllm": {"options": {"master-addr": "10.0.0.1"}}},
        },
    ),
    "ray": (
        "h100x8",
        {
            "parallelism": {"tensor": 2, "pipeline": 2, "nodes": 2},
            "engine": {"vllm": {"options": {"distributed-executor-backend": "ray"}}},
        },
    ),
    "experts": ("h100x8", {"parallelism": {"data": 4, "expert": {"enabled": True, "elastic": True}}}),
    "options": (
        "h100x1",
        {
            "engine": {
                "vllm": {
                    "options": {
                        "enforce-eager": True,
                        "compilation_config": '{"mode": 0}',
                        "no-enable-sleep-mode": True,
                        "disable-log-stats": False,
                        "attention-config.backend": "FLASH_ATTN",
                        "cudagraph-capture-sizes": [1, 2, 4],
                        "tool-call-parser": "hermes",
                        "enable-auto-tool-choice": True,
                        "max-lora-rank": 64,
                    }
                }
            }
        },
    ),
}


def vllm_plan(name: str, model: Path) -> Plan:
    where, tree = PROFILES[name]
    engine = {"backend": "vllm", **tree.get("engine", {})}
    profile = make_profile({**tree, "engine": engine})
    return make_plan(profile, machine(where), read_checkpoint(model), forecast=True)
