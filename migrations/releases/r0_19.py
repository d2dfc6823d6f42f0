"""0.19 (read in 0.19.1)."""

from appliance.migrations.rule import Is, Sets, env, option
from appliance.migrations.since import Since

since = Since("0.19.1")

RULES = (
    since.gone(
        "VM1901",
        option("disable-frontend-multiprocessing"),
        "the API server and the engine always run in processes of their own",
        "entrypoints/openai/cli_args.py:108 in 0.18.1",
        "--disable-frontend-multiprocessing",
        advice="a debugger has to attach to the engine process",
    ),
    since.gone(
        "VM1902",
        env("VLLM_ROCM_CUSTOM_PAGED_ATTN"),
        "the engine decides by itself where ROCm's own paged attention kernel fits",
        "envs.py:991 in 0.18.1",
        "VLLM_ROCM_CUSTOM_PAGED_ATTN=0",
    ),
    since.ask(
        "VM1903",
        option("quantization"),
        "this weight format is not supported any more",
        "config/model.py:189 in 0.18.1, :197 in 0.19.1",
        "--quantization ptpc_fp8",
        match=Is(("ptpc_fp8",)),
        advice="fp8_per_channel quantises per channel at load (known in later releases)",
    ),
    since.default(
        "VM1904",
        option("safetensors-load-strategy"),
        "a checkpoint on NFS that fits into memory is read ahead; lazy keeps the old way",
        "config/load.py:57 in 0.18.1 (lazy), :60 in 0.19.1 (none: automatic)",
        Sets(option("download-dir")),
        before="--download-dir /models",
    ),
)
