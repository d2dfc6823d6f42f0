"""From one release to another, as a person sees it: texts in, texts and findings out."""

import pytest
from migrating import codes, migrate

from appliance.migrations.catalogue import catalogue
from appliance.migrations.change import Part
from appliance.migrations.example import read_example, rewrite
from appliance.migrations.families import FAMILIES, Family
from appliance.migrations.infer import infer_release
from appliance.migrations.operations import Comment
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import release


@pytest.mark.parametrize(
    ("text", "start", "target", "expected"),
    [
        # An option that became a nested key which became another one, and then a value.
        (
            "VLLM_DISABLE_FLASHINFER_PREFILL=1 m",
            "0.14.1",
            "0.32",
            "m --attention-config.mla_prefill_backend FLASH_ATTN",
        ),
        ("VLLM_USE_CUDNN_PREFILL=1 m", "0.14.1", "0.32", "m"),
        ("m -O.level=3", "0.11.0", "0.32", "m --compilation-config.mode 3"),
        # Stopping on the way.
        ("m -O.level=3", "0.11.0", "0.13", "m --compilation-config.level 3"),
        ("m --cuda-graph-sizes 8 16", "0.10.2", "0.32", "m --cudagraph-capture-sizes 8 16"),
        ("m --cuda-graph-sizes 256", "0.10.2", "0.32", "m --max-cudagraph-capture-size 256"),
        # Names of the old engine's backends: those that live on, and one that would stop the start as an option.
        ("VLLM_ATTENTION_BACKEND=FLASH_ATTN_VLLM_V1 m", None, "0.32", "m --attention-backend FLASH_ATTN"),
        ("VLLM_ATTENTION_BACKEND=TORCH_SDPA m", "0.14.1", "0.32", "m"),
        # Branches of a script, which set the same thing twice.
        (
            "m --guided-decoding-backend outlines --guided-decoding-backend xgrammar",
            None,
            "0.32",
            "m --structured-outputs-config.backend outlines --structured-outputs-config.backend xgrammar",
        ),
        # Several settings that meet in one.
        (
            "m --speculative-model x --num-speculative-tokens 5",
            "0.7.3",
            "0.32",
            """m --speculative-config '{"model": "x", "num_speculative_tokens": 5}'""",
        ),
        (
            """m --rope-scaling '{"type": "yarn", "factor": 4}' --rope-theta 1000000""",
            "0.8.5",
            "0.32",
            """m --hf-overrides '{"rope_parameters": {"rope_type": "yarn", "factor": 4, "rope_theta": 1000000}}'""",
        ),
        (
            """m --rope-scaling '{"rope_type": "yarn", "factor": 4}' --hf-overrides '{"architectures": ["X"]}'""",
            "0.8.5",
            "0.32",
            """m --hf-overrides '{"architectures": ["X"], "rope_parameters": {"rope_type": "yarn", "factor": 4}}'""",
        ),
        (
            "m --guided-decoding-backend xgrammar --guided-decoding-disable-any-whitespace",
            "0.10.2",
            "0.32",
            """m --structured-outputs-config '{"backend": "xgrammar", "disable_any_whitespace": true}'""",
        ),
        # What a person wrote wins over what a rule would add.
        (
            """VLLM_ATTENTION_BACKEND=FLASHINFER m --attention-backend TRITON_ATTN""",
            "0.13",
            "0.32",
            "m --attention-backend TRITON_ATTN",
        ),
        # Templated text goes along as it stands.
        (
            "VLLM_ATTENTION_BACKEND='${BACKEND:-FLASH_ATTN}' m",
            "0.10.2",
            "0.32",
            "m --attention-backend '${BACKEND:-FLASH_ATTN}'",
        ),
        # One key becomes two; a parent with nothing left goes with its last key.
        (
            """m --compilation-config '{"mode": 3, "pass_config": {"enable_sp": false}}'""",
            "0.31",
            "0.32",
            """m --compilation-config '{"mode": 3}'""",
        ),
        ("""m --compilation-config '{"pass_config": {"enable_sp": false}}'""", "0.31", "0.32", "m"),
        # Spellings.
        ("m --max_num_batched_token=8192", "0.10.2", "0.32", "m --max-num-batched-tokens=8192"),
        ("m --enable-prefix-caching=False", "0.8.5", "0.32", "m --no-enable-prefix-caching"),
        ("m '--dtype auto'", "0.8.5", "0.32", "m --dtype auto"),
        # Spellings that the target does not have yet.
        ("m --disable-prefix-caching", "0.33", "0.32", "m --no-enable-prefix-caching"),
        ("m --disable-prefix-caching", "0.33", "0.33", "m --disable-prefix-caching"),
        ("m -cc.level=3", "0.12", "0.11.2", "m --compilation-config.level 3"),
        ("m --no-disable-fastapi-docs", "0.32", "0.9", "m"),
        # A release of the past is left alone where its text is good.
        ("m --swap-space 4 --task embed", "0.8.5", "0.9.2", "m --swap-space 4 --task embed"),
        # Removed, back again, removed again.
        ("VLLM_ROCM_USE_AITER_FP4_ASM_GEMM=1 m", "0.31", "0.32", "VLLM_ROCM_USE_AITER_FP4_ASM_GEMM=1 m"),
        ("VLLM_ROCM_USE_AITER_FP4_ASM_GEMM=1 m", None, "0.32", "VLLM_ROCM_USE_AITER_FP4_ASM_GEMM=1 m"),
        ("VLLM_ROCM_USE_AITER_FP4_ASM_GEMM=1 m", "0.31", "0.33", "m"),
    ],
)
def test_text(text: str, start: str | None, target: str, expected: str) -> None:
    assert migrate(text, start, target)[0] == expected
    assert migrate(expected, start, target)[0] == expected


def test_unknown_release_is_migrated_all_the_same() -> None:
    text, changes = migrate("m --swap-space 4 --enable-reasoning --reasoning-parser qwen3", None, "0.32")
    assert text == "m --reasoning-parser qwen3"
    assert {"VM1801", "VM1003"} <= set(codes(changes, Part.CHANGED))


def test_downgrade_names_what_the_target_does_not_know() -> None:
    _, changes = migrate("m --moe-backend triton --grpc-port 1 --swap-space 4", "0.32", "0.20")
    told = {change.subject: change.message for change in changes if change.code == "VM0002"}
    assert told == {"--grpc-port": "--grpc-port: known in 0.32+, you target 0.20.2"}


def test_nested_keys_too_new_for_the_target_are_named() -> None:
    _, changes = migrate("""m --profiler-config '{"profiler": "torch"}'""", "0.32", "0.12")
    assert [change.message for change in changes if change.code == "VM0002"] == [
        "--profiler-config.profiler: known in 0.13+, you target 0.12"
    ]


@pytest.mark.parametrize(
    ("text", "code", "way_out"),
    [
        ("m --max-modle-len 4096", "VM0001", "did you mean --max-model-len?"),
        ("m --kv-cache-dtype fp9", "VM0007", 'did you mean "fp8"?'),
        ("m --gpu-memory-utilization 1.5", "VM0007", "at most 1"),
        ("m --tensor-parallel-size two", "VM0007", ""),
        ("""m --compilation-config '{"mod": 3}'""", "VM0005", "did you mean mode?"),
        ("""m --limit-mm-per-prompt '{"images": 4}'""", "VM0006", "write image"),
        ("""m --compilation-config '{"pass_config": {"eliminate_noops": "true"}}'""", "VM0008", "without quotes"),
        ("m --tool-call-parser hermess --enable-auto-tool-choice", "VM0010", 'did you mean "hermes"?'),
        ("VLLM_LOGGING_LEVLE=INFO m", "VM0009", "did you mean VLLM_LOGGING_LEVEL?"),
        ("m --tool-call-parser hermes", "VM0031", "add --enable-auto-tool-choice"),
        ("m --enable-auto-tool-choice", "VM0032", "name the parser"),
        ("m --enable-log-outputs", "VM0033", "--enable-log-requests"),
        ("org/x --enable-auto-tool-choice", "VM0032", "name the parser of the model's family"),
        ("meta-llama/Llama-3.1-8B --enable-auto-tool-choice", "VM0032", "add --tool-call-parser llama3_json"),
        ("Qwen/Qwen3-8B", "VM0035", "add --reasoning-parser qwen3"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "VM0035", "add --reasoning-parser deepseek_r1"),
        ("openai/gpt-oss-20b", "VM0035", "add --reasoning-parser openai_gptoss"),
        ("m --block-size 32", "VM0040", "leave it out"),
        ("m --no-enable-chunked-prefill", "VM0041", "leave it out"),
        ("m --no-enable-chunked-prefill --max-num-batched-tokens 2k --max-model-len 4096", "VM0042", "--max-model-len"),
        ("bartowski/Qwen2-7B-GGUF", "VM0038", "install the plugin"),
        ("unsloth/Qwen2-7B-bnb-4bit", "VM0038", "install the plugin"),
    ],
)
def test_faults_that_no_release_cures(text: str, code: str, way_out: str) -> None:
    example = read_example(text)
    model = str(next(site.value for site in example.sites if site.name == "model"))
    changes = plan_changes(example.sites, release("0.32"), release("0.32"), model)
    found = next(change for change in changes if change.code == code)
    assert found.part is Part.DECISION and way_out in found.way_out
    assert rewrite(example, changes) == text


def test_a_cache_format_that_would_not_start_is_rewritten_and_told() -> None:
    text, changes = migrate("x-FP8 --kv-cache-dtype fp8_e5m2", "0.32", "0.32", "x-FP8")
    assert text == "x-FP8 --kv-cache-dtype fp8"
    assert "VM0034" in codes(changes, Part.DECISION)
    assert "VM0034" not in codes(migrate(text, "0.32", "0.32", "x-FP8")[1])


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.named)
def test_parsers_of_families_are_parsers_of_the_engine(family: Family) -> None:
    index = catalogue().index(release("0.32"))
    for name, option in ((family.reasoning, "reasoning-parser"), (family.tool, "tool-call-parser")):
        assert not name or name in catalogue().options[option].nearest(index).values


@pytest.mark.parametrize(
    ("text", "expected", "part"),
    [
        ("--model org/m --port 1", "org/m --port 1", Part.CHANGED),
        ("--model=org/m --port 1", "org/m --port 1", Part.CHANGED),
        ("--model '$MODEL' --port 1", "'$MODEL' --port 1", Part.CHANGED),
        # an option in front could take the bare word for its own value
        ("--port 1 --model org/m", "--port 1 --model org/m", Part.DECISION),
    ],
)
def test_model_becomes_the_first_word(text: str, expected: str, part: Part) -> None:
    example = read_example(text)
    changes = plan_changes(example.sites, release("0.9"), release("0.32"), model_word=True)
    assert rewrite(example, changes) == expected
    assert codes(changes, part) == ["VM0037"]
    assert rewrite(example, plan_changes(example.sites, release("0.9"), release("0.32"))) == text


def test_what_moves_below_a_key_that_holds_none_is_handed_to_a_person() -> None:
    text = """VLLM_MORIIO_CONNECTOR_READ_MODE=1 m --kv-transfer-config '{"kv_connector_extra_config": "x"}'"""
    new, changes = migrate(text, "0.18.1", "0.32")
    assert new == text
    (found,) = (change for change in changes if change.code == "VM2303")
    assert (
        found.part is Part.DECISION and "--kv-transfer-config.kv_connector_extra_config holds no keys" in found.message
    )


def test_modes_may_be_numbers() -> None:
    assert codes(migrate("""m --compilation-config '{"mode": 3}' --optimization-level 2""", "0.32", "0.32")[1]) == []


def test_keys_that_were_always_ignored_are_taken_out_when_they_would_stop_the_start() -> None:
    old = """m --kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both", "made_up": 1}'"""
    text, changes = migrate(old, "0.10.2", "0.32")
    assert text == """m --kv-transfer-config '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'"""
    assert "VM0005" in codes(changes, Part.CHANGED)
    assert migrate(old, "0.20", "0.32")[0] == old


def test_templated_json_is_not_guessed_at() -> None:
    text, changes = migrate("m --speculative-model x --speculative-config '${SPEC}'", "0.8.2", "0.32")
    assert text == "m --speculative-model x --speculative-config '${SPEC}'"
    assert [(c.part, c.code) for c in changes if c.site and c.site.name == "speculative-model"] == [
        (Part.DECISION, "VM0811")
    ]


def test_decisions_are_marked_at_the_spot_unless_asked_not_to() -> None:
    example = read_example("m --calculate-kv-scales")
    marked = plan_changes(example.sites, release("0.27"), release("0.28"))
    bare = plan_changes(example.sites, release("0.27"), release("0.28"), comments=False)
    assert any(isinstance(operation, Comment) for change in marked for operation in change.operations)
    assert not any(isinstance(operation, Comment) for change in bare for operation in change.operations)


def test_findings_follow_the_order_of_the_text() -> None:
    _, changes = migrate("m --swap-space 4 --enable-reasoning --num-scheduler-steps 2", "0.8.5", "0.32")
    spans = [change.site.name_span.start for change in changes if change.site and change.part is Part.CHANGED]
    assert spans == sorted(spans) and len(spans) == 3


def test_a_switch_cannot_take_over_text_that_is_filled_in_later() -> None:
    text, changes = migrate("VLLM_DISABLE_NCCL_FOR_DP_SYNCHRONIZATION='${SYNC}' m", "0.11", "0.32")
    assert text == "'VLLM_DISABLE_NCCL_FOR_DP_SYNCHRONIZATION=${SYNC}' m"
    assert "VM1120" in codes(changes, Part.DECISION)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("m --port 8000", None),
        ("m --swap-space 4 --max-model-len 8192", "0.17.1"),
        ("m --swap-space 4 --enable-reasoning", "0.9.2"),
        ("VLLM_USE_V1=1 m", "0.11.0"),
    ],
)
def test_the_release_is_read_from_the_options_where_nothing_names_it(text: str, found: str | None) -> None:
    assert infer_release(read_example(text).sites, release("0.33")) == (release(found) if found else None)


def test_settings_that_meet_stand_or_fall_together() -> None:
    _, changes = migrate("m --speculative-model x --num-speculative-tokens 5", "0.7.3", "0.32")
    first, second = [change for change in changes if change.part is Part.CHANGED]
    assert len(first.operations) == 2 and second.operations == ()
