"""Releases before 0.8.5, the oldest one in the catalogue: what 2023 and 2024 wrote."""

from appliance.migrations.rule import Is, Lacks, Rule, env, option
from appliance.migrations.since import Since, put

_63 = Since("0.6.3")
_70 = Since("0.7.0")
_80 = Since("0.8.0")
_84 = Since("0.8.4")

_FLAGS = "vllm/engine/arg_utils.py create_speculative_config in 0.8.2; flags gone in 0.8.4"
_INTO = "the speculative flags became keys of one JSON option"


def _speculative(code: str, flag: str, key: str, value: str, written: str) -> Rule:
    before, after = f"--{flag} {value}".rstrip(), f"--speculative-config.{key} {written}"
    return _84.moved(code, option(flag), option("speculative-config", key), _INTO, _FLAGS, before, after)


RULES = (
    _63.no_effect(
        "VM0801",
        option("engine-use-ray"),
        "the engine always runs in a process of its own now, without Ray",
        "engine/arg_utils.py:999 in 0.5.5 (deprecated), absent in 0.6.3",
        "--engine-use-ray",
    ),
    _70.puts(
        "VM0802",
        option("worker-use-ray"),
        (put(option("distributed-executor-backend"), "ray"),),
        "the choice of executor has an option of its own",
        "engine/arg_utils.py:403 in 0.6.6 (deprecated, names the successor), absent in 0.7.0",
        "--worker-use-ray",
        "--distributed-executor-backend ray",
    ),
    _70.gone(
        "VM0803",
        option("quantization-param-path"),
        "KV cache scales come from the checkpoint only; without them an fp8 cache runs at scale 1.0",
        "engine/arg_utils.py:354 in 0.6.6, absent in 0.7.0",
        "--quantization-param-path scales.json",
        advice="use a checkpoint with calibrated scales, or leave the KV cache unquantised",
    ),
    _80.default(
        "VM0804",
        option("generation-config"),
        "sampling defaults (temperature, top_p ...) now come from the model's generation_config.json; "
        "`--generation-config vllm` gives the engine's own defaults back",
        "engine/arg_utils.py:204 in 0.7.3 (None), :211 in 0.8.0 (auto)",
        Lacks(option("generation-config")),
        before="--max-model-len 4096",
    ),
    _80.default(
        "VM0805",
        env("VLLM_USE_V1"),
        "the V1 engine became the default: other scheduler, other memory use, other supported features",
        "envs.py:504 in 0.7.3 (0), :523 in 0.8.0 (1)",
        before="--max-model-len 4096",
    ),
    _84.puts(
        "VM0810",
        option("speculative-model"),
        (put(option("speculative-config", "method"), "ngram"),),
        "n-gram lookup is a method, not a model",
        "engine/arg_utils.py:1645 in 0.8.2; vllm/config.py SpeculativeConfig.method in 0.8.5",
        "--speculative-model [ngram] --num-speculative-tokens 5",
        """--speculative-config '{"method": "ngram", "num_speculative_tokens": 5}'""",
        match=Is(("[ngram]", "ngram")),
    ),
    _speculative("VM0811", "speculative-model", "model", "small", "small"),
    _speculative("VM0812", "num-speculative-tokens", "num_speculative_tokens", "5", "5"),
    _speculative("VM0813", "speculative-model-quantization", "quantization", "awq", "awq"),
    _speculative("VM0814", "speculative-draft-tensor-parallel-size", "draft_tensor_parallel_size", "1", "1"),
    _speculative("VM0815", "speculative-max-model-len", "max_model_len", "4096", "4096"),
    _speculative("VM0816", "speculative-disable-by-batch-size", "disable_by_batch_size", "8", "8"),
    _speculative("VM0817", "speculative-disable-mqa-scorer", "disable_mqa_scorer", "", "true"),
    _84.puts(
        "VM0824",
        option("ngram-prompt-lookup-max"),
        (
            put(option("speculative-config", "prompt_lookup_max")),
            put(option("speculative-config", "prompt_lookup_min"), 1),
        ),
        f"{_INTO}; the shortest match was 1 where none was written, and is the longest one now",
        "vllm/config.py maybe_create_spec_config in 0.6.3 (1); vllm/config/speculative.py:1201 in 0.32.0 (the longest)",
        "--ngram-prompt-lookup-max 4",
        """--speculative-config '{"prompt_lookup_max": 4, "prompt_lookup_min": 1}'""",
        touches=(Lacks(option("ngram-prompt-lookup-min")),),
    ),
    _84.moved(
        "VM0818",
        option("ngram-prompt-lookup-max"),
        option("speculative-config", "prompt_lookup_max"),
        _INTO,
        _FLAGS,
        "--ngram-prompt-lookup-max 4 --ngram-prompt-lookup-min 2",
        """--speculative-config '{"prompt_lookup_max": 4, "prompt_lookup_min": 2}'""",
    ),
    _speculative("VM0819", "ngram-prompt-lookup-min", "prompt_lookup_min", "1", "1"),
    _speculative(
        "VM0820", "spec-decoding-acceptance-method", "acceptance_method", "rejection_sampler", "rejection_sampler"
    ),
    _speculative("VM0821", "typical-acceptance-sampler-posterior-threshold", "posterior_threshold", "0.09", "0.09"),
    _speculative("VM0822", "typical-acceptance-sampler-posterior-alpha", "posterior_alpha", "0.3", "0.3"),
    _speculative("VM0823", "disable-logprobs-during-spec-decoding", "disable_logprobs", "", "true"),
)
