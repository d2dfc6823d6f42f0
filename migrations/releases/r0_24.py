"""0.24.0: kernel variables became two options, GGUF left, Transformers 5 is required."""

from appliance.migrations.rule import Is, Nature, Put, Room, Sets, env, option
from appliance.migrations.since import Since, put

since = Since("0.24.0")

_KERNELS = "envs.py:1328-1850 in 0.22.1 and 0.23.0 (deprecated, names the option)"
_MOE = "kernels for mixtures of experts are chosen by --moe-backend; several of these variables map to one choice"
_LINEAR = "kernels for linear layers are chosen by --linear-backend"
_ROPE = (
    "Transformers 5 is required (METADATA of 0.24.0), which keeps rope_theta inside rope_parameters; "
    "config/model.py:544-559,681 in "
    "0.32.0 sets a mapping as it stands, after the model's own values were read"
)

RULES = (
    since.puts(
        "VM2401",
        env("VLLM_MXFP4_USE_MARLIN"),
        (put(option("moe-backend"), "marlin"),),
        "kernels for mixtures of experts are chosen by --moe-backend",
        _KERNELS,
        "VLLM_MXFP4_USE_MARLIN=1",
        "--moe-backend marlin",
        match=Is((True,)),
        nature=Nature.MOVED,
    ),
    since.no_effect(
        "VM2402",
        env("VLLM_MXFP4_USE_MARLIN"),
        "it asks for nothing",
        _KERNELS,
        "VLLM_MXFP4_USE_MARLIN=0",
        match=Is((False,)),
    ),
    *(
        since.gone(code, env(name), why, _KERNELS, f"{name}={value}", advice=advice)
        for code, name, value, why, advice in (
            ("VM2403", "VLLM_FLASHINFER_MOE_BACKEND", "latency", _MOE, "compare --moe-backend values on your model"),
            ("VM2404", "VLLM_USE_FLASHINFER_MOE_FP16", "1", _MOE, "compare --moe-backend values on your model"),
            ("VM2405", "VLLM_USE_FLASHINFER_MOE_FP4", "1", _MOE, "compare --moe-backend values on your model"),
            ("VM2406", "VLLM_USE_FLASHINFER_MOE_FP8", "1", _MOE, "compare --moe-backend values on your model"),
            ("VM2407", "VLLM_USE_FLASHINFER_MOE_MXFP4_BF16", "1", _MOE, "compare --moe-backend values on your model"),
            ("VM2408", "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", "1", _MOE, "compare --moe-backend values on your model"),
            (
                "VM2409",
                "VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS",
                "1",
                _MOE,
                "compare --moe-backend values on your model",
            ),
            ("VM2410", "VLLM_NVFP4_GEMM_BACKEND", "cutlass", _LINEAR, "compare --linear-backend values on your model"),
            ("VM2411", "VLLM_USE_FBGEMM", "1", _LINEAR, "compare --linear-backend values on your model"),
            (
                "VM2412",
                "VLLM_USE_NVFP4_CT_EMULATIONS",
                "1",
                _LINEAR,
                "compare --linear-backend values on your model",
            ),
        )
    ),
    since.no_effect(
        "VM2413",
        option("compilation-config", "pass_config.fuse_minimax_qk_norm"),
        "nothing read it any more",
        "config/compilation.py:137 in 0.23.0",
        """--compilation-config '{"pass_config": {"fuse_minimax_qk_norm": true}}'""",
    ),
    *(
        since.ask(
            code,
            option(name),
            "GGUF files are not read any more",
            "layers/quantization/__init__.py and config/model.py:205 in 0.23.0, absent in 0.24.0",
            f"--{name} gguf",
            match=Is(("gguf",)),
            advice="serve the safetensors checkpoint of the model, or keep the engine at 0.23",
        )
        for code, name in (("VM2414", "quantization"), ("VM2415", "load-format"))
    ),
    since.renamed(
        "VM2420",
        option("hf-overrides", "rope_scaling.type"),
        option("hf-overrides", "rope_scaling.rope_type"),
        "Transformers 5 reads rope_type only",
        _ROPE,
        """--hf-overrides '{"rope_scaling": {"type": "yarn", "factor": 4.0}}'""",
        """--hf-overrides '{"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}'""",
    ),
    since.renamed(
        "VM2421",
        option("hf-overrides", "rope_parameters.type"),
        option("hf-overrides", "rope_parameters.rope_type"),
        "Transformers 5 reads rope_type only",
        _ROPE,
        """--hf-overrides '{"rope_parameters": {"type": "yarn", "factor": 4.0}}'""",
        """--hf-overrides '{"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}'""",
    ),
    since.renamed(
        "VM2416",
        option("hf-overrides", "rope_scaling"),
        option("hf-overrides", "rope_parameters"),
        "RoPE settings of a model live in rope_parameters, which replaces the model's own as a whole: put its "
        "rope_theta in "
        "too, and leave max_position_embeddings as it is, or the factor is applied twice",
        _ROPE,
        """--hf-overrides '{"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}'""",
        """--hf-overrides '{"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}'""",
        safe=False,
    ),
    since.puts(
        "VM2417",
        option("hf-overrides", "rope_theta"),
        (
            Put(option("hf-overrides", "rope_parameters.rope_theta")),
            put(option("hf-overrides", "rope_parameters.rope_type"), "default"),
        ),
        "rope_theta lives in rope_parameters, which replaces the model's own as a whole",
        _ROPE,
        """--hf-overrides '{"rope_theta": 1000000}'""",
        """--hf-overrides '{"rope_parameters": {"rope_theta": 1000000, "rope_type": "default"}}'""",
        safe=False,
        advice="take the rest of rope_parameters over from the model's config.json",
    ),
    since.default(
        "VM2418",
        env("VLLM_ENFORCE_STRICT_TOOL_CALLING"),
        "arguments of strict tools are held to their JSON schema while they are generated",
        "envs.py:1804 in 0.23.0 (false), :1582 in 0.24.0 (true)",
        Sets(option("enable-auto-tool-choice")),
        before="--enable-auto-tool-choice --tool-call-parser hermes",
    ),
    since.clients(
        "VM2419",
        Nature.PLATFORM,
        Room.PLATFORM,
        "transformers",
        "Transformers 5.5.3 or newer is required; code that comes with older models may need an update",
        "METADATA of 0.23.0 and 0.24.0",
        Sets(option("trust-remote-code")),
        before="--trust-remote-code",
    ),
    since.ask(
        "VM2422",
        option("kv-transfer-config", "kv_connector"),
        "the point-to-point NCCL connector is gone; the others speak other protocols",
        "distributed/kv_transfer/kv_connector/factory.py in 0.23.0 and 0.24.0",
        """--kv-transfer-config '{"kv_connector": "P2pNcclConnector", "kv_role": "kv_both"}'""",
        match=Is(("P2pNcclConnector",)),
        advice="set prefill and decode up anew with NixlConnector or another connector of the target release",
    ),
    since.ask(
        "VM2423",
        option("tool-call-parser"),
        "the parser for MiniMax-M1 is gone",
        "tool_parsers/__init__.py in 0.23.0 and 0.24.0",
        "--tool-call-parser minimax",
        match=Is(("minimax",)),
        advice="MiniMax-M2 has minimax_m2",
    ),
)
