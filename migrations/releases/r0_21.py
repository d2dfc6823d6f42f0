"""0.21.0."""

from appliance.migrations.rule import Is, Sets, env, option
from appliance.migrations.since import Since, put

since = Since("0.21.0")

_SPECULATIVE = "speculative-config"
_SAMPLING = "config/speculative.py:186 in 0.20.2, :190,255 in 0.21.0"

RULES = (
    since.gone(
        "VM2101",
        option(_SPECULATIVE, "speculative_token_tree"),
        "drafts are chains; trees of tokens are not verified any more",
        "config/speculative.py:140 in 0.20.2",
        """--speculative-config '{"speculative_token_tree": "[(0,)]"}'""",
    ),
    *(
        since.gone(
            code,
            target,
            "the tree attention backend is gone",
            "config/attention.py:16 in 0.20.2, :20 in 0.21.0",
            before,
            match=Is(("TREE_ATTN",)),
            advice="name another backend only if you measured it",
        )
        for code, target, before in (
            ("VM2102", option("attention-backend"), "--attention-backend TREE_ATTN"),
            ("VM2103", option("mm-encoder-attn-backend"), "--mm-encoder-attn-backend TREE_ATTN"),
            ("VM2104", option("attention-config", "backend"), """--attention-config '{"backend": "TREE_ATTN"}'"""),
        )
    ),
    since.value(
        "VM2105",
        option(_SPECULATIVE, "rejection_sample_method"),
        {"strict": "standard"},
        Is(("strict",)),
        "the same method under another name; it is the default",
        _SAMPLING,
        """--speculative-config '{"rejection_sample_method": "strict"}'""",
        """--speculative-config '{"rejection_sample_method": "standard"}'""",
    ),
    since.puts(
        "VM2106",
        option(_SPECULATIVE, "rejection_sample_method"),
        (
            put(option(_SPECULATIVE, "rejection_sample_method"), "standard"),
            put(option(_SPECULATIVE, "draft_sample_method"), "gumbel"),
        ),
        "how drafts are sampled is a key of its own",
        f"{_SAMPLING}; in 0.21 the new key holds for model runner V2 only",
        """--speculative-config '{"rejection_sample_method": "probabilistic"}'""",
        """--speculative-config '{"rejection_sample_method": "standard", "draft_sample_method": "gumbel"}'""",
        match=Is(("probabilistic",)),
        safe=False,
    ),
    since.default(
        "VM2107",
        env("VLLM_USE_FLASHINFER_SAMPLER"),
        "FlashInfer samples top-k and top-p where it is installed; the random streams differ",
        "envs.py:717 in 0.20.2, :726 in 0.21.0",
        Sets(option("seed")),
        before="--seed 7",
    ),
    since.default(
        "VM2108",
        env("VLLM_USE_RAY_V2_EXECUTOR_BACKEND"),
        "Ray deployments use the message-queue executor",
        "envs.py:778 in 0.20.2, :786 in 0.21.0",
        Sets(option("distributed-executor-backend"), Is(("ray",))),
        before="--distributed-executor-backend ray",
    ),
)
