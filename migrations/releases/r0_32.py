"""0.32.0."""

from appliance.migrations.rule import VISION, Is, Like, ModelLike, Nature, Room, Rule, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.32.0")

_PASS = (
    "config/compilation.py:136-142,186 in 0.31.0; compilation/passes/fusion/sequence_parallelism.py absent in 0.32.0"
)
_SEQUENCE = "the sequence-parallel and async tensor-parallel compiler passes are gone"
_UNREAD = "nothing read it"


def _key(name: str, key: str, code: str, value: str, line: str) -> Rule:
    before = f"""--{name} '{{"{key}": {value}}}'"""
    return since.no_effect(code, option(name, key), _UNREAD, f"config/{line} in 0.31.0", before)


RULES = (
    since.value(
        "VM3201",
        option("mamba-cache-mode"),
        {"all": "align"},
        Is(("all",)),
        "prefix hits of Mamba layers end at scheduler steps only, so the hit rate differs",
        "config/cache.py:62,341-350 in 0.31.0, :63 in 0.32.0; model_executor/models/config.py:640-676 in 0.31.0",
        "--mamba-cache-mode all",
        "--mamba-cache-mode align",
    ),
    *(
        since.no_effect(
            code,
            option("compilation-config", f"pass_config.{key}"),
            f"{_SEQUENCE}, and this does not ask for them",
            _PASS,
            f"""--compilation-config '{{"pass_config": {{"{key}": {value}}}}}'""",
            match=Is((False, None)),
        )
        for code, key, value in (
            ("VM3202", "enable_sp", "false"),
            ("VM3203", "fuse_gemm_comms", "false"),
            ("VM3204", "sp_min_token_num", "null"),
        )
    ),
    *(
        since.gone(
            code,
            option("compilation-config", f"pass_config.{key}"),
            f"{_SEQUENCE}; start-up would fail on the key",
            _PASS,
            f"""--compilation-config '{{"pass_config": {{"{key}": {value}}}}}'""",
            advice="measure throughput under tensor parallelism again",
        )
        for code, key, value in (
            ("VM3205", "enable_sp", "true"),
            ("VM3206", "fuse_gemm_comms", "true"),
            ("VM3207", "sp_min_token_num", "1024"),
        )
    ),
    _key("kv-transfer-config", "kv_rank", "VM3208", "0", "kv_transfer.py:79"),
    _key("kv-transfer-config", "kv_parallel_size", "VM3209", "2", "kv_transfer.py:84"),
    _key("kv-transfer-config", "kv_ip", "VM3210", '"127.0.0.1"', "kv_transfer.py:87"),
    _key("kv-transfer-config", "kv_buffer_size", "VM3211", "1000000000.0", "kv_transfer.py:71"),
    _key("ec-transfer-config", "ec_rank", "VM3212", "0", "ec_transfer.py:45"),
    _key("ec-transfer-config", "ec_parallel_size", "VM3213", "1", "ec_transfer.py:50"),
    *(
        since.value(
            code,
            target,
            {"flashinfer_moe_ep_mega_cutedsl": "flashinfer_moe_ep_cutedsl"},
            Is(("flashinfer_moe_ep_mega_cutedsl",)),
            "the kernel has another name and wants Blackwell GPUs, expert parallelism, NVSHMEM and the default "
            "all2all backend",
            "config/kernel.py:131 in 0.31.0, :132,193-227 in 0.32.0",
            before,
            before.replace("mega_", ""),
            safe=False,
        )
        for code, target, before in (
            ("VM3214", option("moe-backend"), "--moe-backend flashinfer_moe_ep_mega_cutedsl"),
            (
                "VM3215",
                option("kernel-config", "moe_backend"),
                """--kernel-config '{"moe_backend": "flashinfer_moe_ep_mega_cutedsl"}'""",
            ),
            (
                "VM3216",
                option("speculative-config", "moe_backend"),
                """--speculative-config '{"moe_backend": "flashinfer_moe_ep_mega_cutedsl"}'""",
            ),
        )
    ),
    since.no_effect(
        "VM3217",
        option("max-num-scheduled-tokens"),
        "0 meant unset; the least allowed value is 1",
        "config/scheduler.py:56 in 0.31.0 (ge=0), :55 in 0.32.0 (ge=1)",
        "--max-num-scheduled-tokens 0",
        match=Is((0,)),
    ),
    since.no_effect(
        "VM3218",
        option("disable-cascade-attn"),
        "cascade attention is gone; the option is a no-op with a warning, whose removal was announced for 0.33 and "
        "did not happen there",
        "config/model.py:284 in 0.31.0; engine/arg_utils.py:456-459,993-998 in 0.32.0; still accepted in 0.33.0",
        "--disable-cascade-attn",
    ),
    since.no_effect(
        "VM3219",
        env("VLLM_ENGINE_ITERATION_TIMEOUT_S"),
        "nothing read it",
        "envs.py:805 in 0.31.0",
        "VLLM_ENGINE_ITERATION_TIMEOUT_S=120",
    ),
    since.default(
        "VM3220",
        option("allowed-origins"),
        'web pages of other origins are refused: the default is [] instead of ["*"]; name the origins that you serve',
        "entrypoints/launchers/cli_args.py:311 in 0.31.0, :319-320 in 0.32.0",
        before="--max-model-len 4096",
    ),
    since.clients(
        "VM3221",
        Nature.REQUEST,
        Room.REQUEST,
        "max_tokens",
        "a prompt that fits with a max_tokens that does not is served with a shorter answer (finish_reason "
        "length); before, it was "
        "refused with 400. max_tokens alone above the context is refused in both",
        "renderers/params.py:209-241,485-508 in 0.31.0, :209-268 in 0.32.0",
    ),
    since.clients(
        "VM3222",
        Nature.STREAM,
        Room.STREAM,
        "response.reasoning_part.added, response.reasoning_part.done",
        "the Responses API sends response.content_part.added and .done with type reasoning_text",
        "responses/streaming_events.py:221,458,947,994 in 0.31.0, :228,462,976,1020 in 0.32.0",
    ),
    since.clients(
        "VM3223",
        Nature.REQUEST,
        Room.REQUEST,
        "images",
        "only 37 raster formats are decoded; EPS, WMF, BUFR, GRIB, HDF5 and MPEG are refused",
        "multimodal/image.py:18-61 in 0.32.0",
        ModelLike(VISION),
        before="Qwen/Qwen3-VL-8B-Instruct",
    ),
    since.clients(
        "VM3224",
        Nature.REQUEST,
        Room.REQUEST,
        "JSON schemas",
        "schemas nested more than 64 deep are refused",
        "sampling_params.py:36-43,214-257 in 0.32.0",
    ),
    since.clients(
        "VM3225",
        Nature.PLATFORM,
        Room.PLATFORM,
        "python",
        "Python 3.10 is not supported any more; 3.11 or newer",
        "Requires-Python in 0.31.0 (>=3.10) and 0.32.0 (>=3.11)",
    ),
    since.default(
        "VM3226",
        option("kv-cache-dtype"),
        "GLM-5 models on Blackwell data-centre GPUs keep their KV cache in fp8; --kv-cache-dtype bfloat16 keeps "
        "the old one",
        "config/vllm.py architecture defaults in 0.32.0",
        ModelLike(r"glm-?5"),
        before="zai-org/GLM-5",
    ),
    since.default(
        "VM3227",
        env("VLLM_DEEPEP_V2_ALLOW_HYBRID_MODE"),
        "DeepEP chooses between NVLink and RDMA by itself",
        "envs.py:2005 in 0.31.0 (0), :2064 in 0.32.0 (1)",
        Sets(option("all2all-backend"), Like("(?i)deepep")),
        before="--all2all-backend deepep_v2",
    ),
    since.default(
        "VM3228",
        env("VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT"),
        "a chat template that renders longer than 30 s is given up",
        "envs.py:816 in 0.32.0; renderers/hf.py:992-1013",
        Sets(option("chat-template")),
        before="--chat-template t.jinja",
    ),
    since.clients(
        "VM3229",
        Nature.REQUEST,
        Room.REQUEST,
        "/inference/v1/generate logprobs",
        "entries carry token_id, logprob and rank instead of strings; output_mode text gives strings",
        "scale_out/token_in_token_out/protocol.py:321,347 in 0.31.0, :364-436 in 0.32.0",
        Sets(option("enable-scale-out")),
        before="--enable-scale-out",
    ),
    since.default(
        "VM3230",
        env("VLLM_ROCM_AITER_MLA_DCP_VERIFY"),
        "the kernel that verifies drafts under context parallelism is chosen by shape; segmented keeps the old one",
        "envs.py:1317 in 0.31.0 (segmented), :1331 in 0.32.0 (auto)",
        Sets(env("VLLM_ROCM_USE_AITER"), Is((True,))),
        Sets(option("decode-context-parallel-size")),
        before="VLLM_ROCM_USE_AITER=1 --decode-context-parallel-size 2",
    ),
    since.meaning(
        "VM3231",
        option("enable-flash-late-interaction"),
        "switching it off also switches off the engine's kernel, not only the API server's path",
        "entrypoints/launchers/cli_args.py:558-572 in 0.32.0",
        match=Is((False,)),
        before="--no-enable-flash-late-interaction",
    ),
)
