"""0.22 (read in 0.22.1)."""

from appliance.migrations.rule import Is, Sets, env, option
from appliance.migrations.since import Since, put

since = Since("0.22.1")

_PREFILL = "config/attention.py:109-141 in 0.21.0 (deprecated, names the successor)"
_MLA = "the MLA prefill kernel is named"
_BACKEND = option("attention-config", "mla_prefill_backend")

RULES = (
    since.renamed(
        "VM2201",
        option("attention-config", "use_trtllm_ragged_deepseek_prefill"),
        _BACKEND,
        _MLA,
        _PREFILL,
        """--attention-config '{"use_trtllm_ragged_deepseek_prefill": true}'""",
        """--attention-config '{"mla_prefill_backend": "TRTLLM_RAGGED"}'""",
        values={True: "TRTLLM_RAGGED", False: None},
    ),
    since.renamed(
        "VM2202",
        option("attention-config", "disable_flashinfer_prefill"),
        _BACKEND,
        _MLA,
        _PREFILL,
        """--attention-config '{"disable_flashinfer_prefill": true}'""",
        """--attention-config '{"mla_prefill_backend": "FLASH_ATTN"}'""",
        values={True: "FLASH_ATTN", False: None},
    ),
    since.no_effect(
        "VM2203",
        option("attention-config", "use_cudnn_prefill"),
        "the cuDNN prefill kernel is gone, and this does not ask for it",
        _PREFILL,
        """--attention-config '{"use_cudnn_prefill": false}'""",
        match=Is((False,)),
    ),
    since.gone(
        "VM2204",
        option("attention-config", "use_cudnn_prefill"),
        "the cuDNN prefill kernel is gone",
        _PREFILL,
        """--attention-config '{"use_cudnn_prefill": true}'""",
        advice="leave the choice to the engine, or set mla_prefill_backend to FLASH_ATTN, FLASHINFER or TRTLLM_RAGGED",
    ),
    since.gone(
        "VM2205",
        env("VLLM_NIXL_ABORT_REQUEST_TIMEOUT"),
        "blocks of an aborted request are held by a lease that is renewed (30 s by default), not for one fixed time",
        "envs.py:1472 in 0.21.0; nixl/scheduler.py:70 in 0.22.1",
        "VLLM_NIXL_ABORT_REQUEST_TIMEOUT=480",
        advice="set kv_connector_extra_config.kv_lease_duration in --kv-transfer-config",
    ),
    since.puts(
        "VM2206",
        option("tokenizer-mode"),
        (put(option("tokenizer-mode"), "hf"), put(env("VLLM_USE_FASTOKENS"), "1")),
        "the fast tokenizer library is switched on by a variable",
        "config/model.py:130 in 0.21.0, :138,151-155 in 0.22.1",
        "--tokenizer-mode fastokens",
        "VLLM_USE_FASTOKENS=1 --tokenizer-mode hf",
        match=Is(("fastokens",)),
    ),
    since.value(
        "VM2207",
        option("speculative-config", "draft_sample_method"),
        {"gumbel": "probabilistic"},
        Is(("gumbel",)),
        "the same method under another name",
        "config/speculative.py:255 in 0.21.0, :256 in 0.22.1",
        """--speculative-config '{"draft_sample_method": "gumbel"}'""",
        """--speculative-config '{"draft_sample_method": "probabilistic"}'""",
    ),
    since.default(
        "VM2208",
        env("VLLM_USE_V2_MODEL_RUNNER"),
        "the engine chooses between model runners V1 and V2 by model and platform",
        "envs.py:1711 in 0.21.0 (false), :1897 in 0.22.1 (none: automatic)",
        before="--max-model-len 4096",
    ),
    since.default(
        "VM2209",
        option("compilation-config", "pass_config.enable_qk_norm_rope_fusion"),
        "the engine decides about fusing query/key norms with RoPE by optimisation level",
        "config/compilation.py:139 in 0.21.0 (false) and 0.22.1 (none)",
        Sets(option("compilation-config")),
        before="""--compilation-config '{"mode": 3}'""",
    ),
)
