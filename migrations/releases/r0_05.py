"""Up to 0.7, by the wheels of 0.4.2, 0.5.5, 0.6.3.post1 and 0.7.3: what went before the catalogue begins."""

from appliance.migrations.rule import env, option
from appliance.migrations.since import Since

_55 = Since("0.5.5")
_63 = Since("0.6.3")
_73 = Since("0.7.3")
_80 = Since("0.8.0")

_IMAGES = "the engine reads from the model how it takes pictures"
_OPENVINO = "the OpenVINO build of the engine does not exist any more"

RULES = (
    *(
        _55.no_effect(
            code, option(name), _IMAGES, f"engine/arg_utils.py:{line} in 0.4.2, absent in 0.5.5", f"--{name} {value}"
        )
        for code, name, value, line in (
            ("VM0501", "image-input-type", "pixel_values", 413),
            ("VM0502", "image-token-id", "32000", 421),
            ("VM0503", "image-input-shape", "1,3,336,336", 426),
            ("VM0504", "image-feature-size", "576", 432),
        )
    ),
    _63.no_effect(
        "VM0601",
        env("VLLM_ALLOW_ENGINE_USE_RAY"),
        "it allowed --engine-use-ray, which is gone",
        "envs.py:386 in 0.5.5, absent in 0.6.3",
        "VLLM_ALLOW_ENGINE_USE_RAY=1",
    ),
    _63.no_effect(
        "VM0602",
        env("VLLM_RPC_GET_DATA_TIMEOUT_MS"),
        "nothing read it any more",
        "envs.py:380 in 0.5.5, absent in 0.6.3",
        "VLLM_RPC_GET_DATA_TIMEOUT_MS=5000",
    ),
    _73.no_effect(
        "VM0701",
        option("max-context-len-to-capture"),
        "it limited CUDA graphs by sequence length in the old engine; graphs are captured by batch size now",
        "engine/arg_utils.py:475 in 0.6.3 (names --max-seq-len-to-capture as its successor), absent in 0.7.3",
        "--max-context-len-to-capture 8192",
    ),
    _73.no_effect(
        "VM0702",
        env("VLLM_INSTANCE_ID"),
        "nothing read it any more",
        "envs.py:175 in 0.6.3, absent in 0.7.3",
        "VLLM_INSTANCE_ID=a",
    ),
    _73.gone(
        "VM0703",
        env("VLLM_TORCH_COMPILE_LEVEL"),
        "the level of compilation is a key of --compilation-config, and compiling is the default",
        "envs.py:206 in 0.6.3, absent in 0.7.3",
        "VLLM_TORCH_COMPILE_LEVEL=0",
        advice="write --enforce-eager where it was 0; leave it out otherwise",
    ),
    *(
        _80.no_effect(code, env(name), reason, f"envs.py:{line} in 0.7.3, absent in 0.8.5", f"{name}={value}")
        for code, name, value, line, reason in (
            ("VM0830", "VLLM_USE_RAY_COMPILED_DAG_NCCL_CHANNEL", "1", 376, "Ray's channel is chosen by the executor"),
            ("VM0831", "VLLM_MLA_DISABLE_REQUANTIZATION", "1", 555, "nothing read it any more"),
            ("VM0832", "VLLM_MLA_PERFORM_MATRIX_ABSORPTION", "1", 546, "MLA always works that way"),
            ("VM0833", "VLLM_MM_INPUT_CACHE_SIZE", "256", 418, "--mm-processor-cache-gb sets the cache's size"),
            ("VM0834", "VLLM_OPENVINO_DEVICE", "CPU", 341, _OPENVINO),
            ("VM0835", "VLLM_OPENVINO_KVCACHE_SPACE", "8", 346, _OPENVINO),
            ("VM0836", "VLLM_OPENVINO_CPU_KV_CACHE_PRECISION", "u8", 352, _OPENVINO),
            ("VM0837", "VLLM_OPENVINO_ENABLE_QUANTIZED_WEIGHTS", "ON", 357, _OPENVINO),
        )
    ),
)
