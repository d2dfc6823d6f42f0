"""The script family on texts small enough to read."""

from pathlib import Path

import pytest
from script_cases import CASES, DIALECTS, text_of

from appliance.migrations.canonical import UNKNOWN, Edit, apply_edits
from appliance.migrations.dialects import DialectError, load
from appliance.migrations.operations import Add, CannotEditError, Comment, Remove, Rewrite


def test_last_continued_line_leaves_no_backslash() -> None:
    text = "vllm serve m \\\n  --port 1 \\\n  --swap-space 4\necho\n"
    assert without("shell", text, "swap-space") == "vllm serve m \\\n  --port 1\necho\n"


def test_middle_continued_line_keeps_the_chain_and_its_alignment() -> None:
    text = "vllm serve m      \\\n  --swap-space 4  \\\n  --port 1        \\\n  --dtype auto\n"
    assert without("shell", text, "swap-space") == text.replace("  --swap-space 4  \\\n", "")


def test_so_does_one_in_quotes_whose_lines_the_shell_joins() -> None:
    text = 'C="\n  vllm serve m \\\n    --port 1  \\\n    --swap-space 4 \\\n    --dtype auto\n"\n'
    assert without("shell", text, "swap-space") == text.replace("    --swap-space 4 \\\n", "")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("VLLM_USE_V1=0 VLLM_X=1 python run.py\n", "VLLM_X=1 python run.py\n"),
        ("VLLM_USE_V1=0 \\\n  python run.py --x\n", "python run.py --x\n"),
        (
            "for b in A B; do VLLM_USE_V1=0 python run.py | tee $b; done\n",
            "for b in A B; do python run.py | tee $b; done\n",
        ),
        ("env VLLM_USE_V1=0 python run.py\n", "env python run.py\n"),
    ],
)
def test_the_command_that_gets_a_variable_stays(text: str, left: str) -> None:
    """A file of nothing but such lines was read as one of variables, and the command went with its variable."""
    assert without("shell", text, "VLLM_USE_V1") == left


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ('"$VLLM_BIN" serve m --port 1', 1),
        ('exec env A=1 "${BIN}" serve m --gpu-memory-utilization 0.8', 1),
        ("$OLLAMA serve", 0),
    ],
)
def test_a_program_that_a_variable_holds_is_known_by_its_options(command: str, found: int) -> None:
    assert len(load("shell").read("", f"if x; then A=1; fi\n{command}\n")) == found


def test_a_file_of_commands_is_no_file_of_variables() -> None:
    for line in ("VLLM_USE_V1=0 python run.py\n", "VLLM_USE_V1=0 VLLM_X=1 ./run\n", "VLLM_X= /opt/bin/vllm serve m\n"):
        assert load("dotenv").detect("start", line) == 0.0
    assert load("dotenv").detect("start", "VLLM_USE_V1=0\nTITLE=The Python Room\n") > 0.0


@pytest.mark.parametrize(
    "command",
    [
        'docker run --entrypoint bash vllm/vllm-openai:v0.9.1 -c "vllm serve m"',
        'ovhai app run --gpu 1 vllm/vllm-openai:v0.9.1 -- bash -c "vllm serve m"',
        "srun --container-image=vllm/vllm-openai:v0.9.1 vllm serve m",
        "apptainer exec docker://vllm/vllm-openai:v0.9.1 vllm serve m",
    ],
)
def test_the_image_in_front_of_a_command_tells_the_release(command: str) -> None:
    (deployment,) = load("shell").read("", command)
    assert deployment.release is not None
    assert (deployment.release.text, str(deployment.release.release)) == ("vllm/vllm-openai:v0.9.1", "0.9.1")


def test_exported_variable_alone_in_a_body_leaves_a_body() -> None:
    text = "f() {\n  export VLLM_USE_V1=1\n}\nvllm serve m\n"
    assert without("shell", text, "VLLM_USE_V1") == "f() {\n  :\n}\nvllm serve m\n"


def test_a_name_exported_twice_in_one_statement_is_one_site() -> None:
    (deployment,) = load("shell").read("", "export VLLM_USE_V1 VLLM_USE_V1=0\nvllm serve m\n")
    assert [site.name for site in deployment.sites] == ["VLLM_USE_V1", "model"]


@pytest.mark.parametrize(("flags", "reached"), [("", False), ("-e VLLM_USE_V1 ", True), ("--env=VLLM_USE_V1=0 ", True)])
def test_a_container_gets_the_variables_that_it_asks_for(flags: str, reached: bool) -> None:
    for command in ("m --port 1", 'sh -c "vllm serve m"'):
        text = f"export VLLM_USE_V1=1\ndocker run {flags}vllm/vllm-openai:v0.9.0 {command}\n"
        (deployment,) = load("shell").read("", text)
        assert ("VLLM_USE_V1" in [site.name for site in deployment.sites]) is reached


def test_the_first_items_of_a_list_take_the_comma_behind_them() -> None:
    pod = (
        "kubectl apply -f - <<E\nkind: Pod\napiVersion: v1\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.9.0\n"
    )
    text = pod + '    args: [m, -- --swap-space, "4"]\nE\n'
    (deployment,) = load("shell").read("", text)
    edits = load("shell").edit(text, deployment, [Remove(site) for site in deployment.sites])
    assert apply_edits(text, edits) == pod + '    args: ["4"]\nE\n'


def test_a_configuration_written_beside_the_command_is_known_by_any_option_of_the_engine() -> None:
    text = "cat > c.yaml <<E\nswap-space: 4\nport: 1\nE\nvllm serve m --config c.yaml\n"
    assert without("shell", text, "swap-space") == text.replace("swap-space: 4\n", "")


def test_carriage_returns_stay() -> None:
    text = "vllm serve m \\\r\n  --swap-space 4 \\\r\n  --port 1\r\n"
    assert without("shell", text, "swap-space") == "vllm serve m \\\r\n  --port 1\r\n"


def test_image_variable_holds_release_and_engine() -> None:
    (found,) = load("shell").read("", "IMG=vllm/vllm-openai:v0.9.2\ndocker run --rm $IMG --model m --swap-space 4\n")
    assert found.release is not None
    assert str(found.release.release) == "0.9.2"


def test_value_followed_through_a_variable_is_changed_where_it_is_set() -> None:
    text = "KV=fp8_e5m2\nvllm serve m --kv-cache-dtype $KV\n"
    (found,) = load("shell").read("", text)
    site = found.sites[-1]
    assert site.value == "fp8_e5m2"
    edits = load("shell").edit(text, found, [Rewrite(site, value="fp8")])
    assert apply_edits(text, edits) == "KV=fp8\nvllm serve m --kv-cache-dtype $KV\n"


def test_value_of_a_variable_used_twice_is_left_to_a_person() -> None:
    text = "KV=fp8_e5m2\necho $KV\nvllm serve m --kv-cache-dtype $KV\n"
    (found,) = load("shell").read("", text)
    with pytest.raises(CannotEditError, match=r"\$KV"):
        load("shell").edit(text, found, [Rewrite(found.sites[-1], value="fp8")])


@pytest.mark.parametrize("value", ["$KV", "$(pick)", "${KV:-fp8}", "{{ kv }}", "<kv-type>"])
def test_values_that_cannot_be_known_are_unknown(value: str) -> None:
    (found,) = load("shell").read("", f"vllm serve m --kv-cache-dtype {value} --port 1\n")
    assert [site.value for site in found.sites] == ["m", UNKNOWN, 1]


def test_option_string_takes_no_value_with_blanks() -> None:
    text = 'ARGS="--swap-space 4 --port 1"\nvllm serve m $ARGS\n'
    (found,) = load("shell").read("", text)
    with pytest.raises(CannotEditError, match="spaces"):
        load("shell").edit(text, found, [Rewrite(found.sites[1], "chat-template", "a b")])


def test_json_inside_an_option_string_gets_no_blanks() -> None:
    text = 'ARGS="--swap-space 4 --port 1"\nvllm serve m $ARGS\n'
    (found,) = load("shell").read("", text)
    edits = load("shell").edit(text, found, [Rewrite(found.sites[1], "hf-overrides", {"a": [1, 2]})])
    assert apply_edits(text, edits) == 'ARGS="--hf-overrides {\\"a\\":[1,2]} --port 1"\nvllm serve m $ARGS\n'


def test_remark_stands_above_the_command_and_only_once() -> None:
    text = "if x; then\n  cd y && \\\n    vllm serve m --swap-space 4\nfi\n"
    (found,) = load("shell").read("", text)
    once = apply_edits(text, load("shell").edit(text, found, [Comment(found.sites[0], "look\nhere")]))
    assert once == text.replace("  cd", "  # look here\n  cd")
    (again,) = load("shell").read("", once)
    assert load("shell").edit(once, again, [Comment(again.sites[0], "look here")]) == []


def test_variable_added_to_a_container_stands_in_front_of_the_image() -> None:
    text = "docker run --rm \\\n  vllm/vllm-openai:v0.9.0 \\\n  --model m\n"
    (found,) = load("shell").read("", text)
    edits = load("shell").edit(text, found, [Add("VLLM_LOGGING_LEVEL", "INFO", kind=found.sites[0].kind.ENV)])
    assert apply_edits(text, edits) == text.replace("  vllm/", "  -e VLLM_LOGGING_LEVEL=INFO \\\n  vllm/")


def test_unclosed_quote_is_refused_with_its_place() -> None:
    with pytest.raises(DialectError) as refused:
        load("shell").read("", "vllm serve 'm --port 1\n")
    assert refused.value.offset == 11


def test_characters_outside_the_grammar_are_read_as_letters() -> None:
    """Brace expansions with such characters end the process inside the grammar's own scanner."""
    text = "vllm serve m --served-model-name {\U000e6a5bbc\U00026e67 --chat-template é/ü.jinja --port 1 # 🦜\n"
    (found,) = load("shell").read("", text)
    assert [(site.name, site.value) for site in found.sites[2:]] == [("chat-template", "é/ü.jinja"), ("port", 1)]
    assert text[found.sites[-1].name_span.start :].startswith("--port")


def test_environment_file_beside_the_unit_is_followed(tmp_path: Path) -> None:
    (tmp_path / "engine.env").write_text("MODEL=org/chat\nKV=fp8_e5m2\nPORT=80\n")
    text = (
        "[Service]\nEnvironmentFile=-/etc/x/engine.env\nExecStart=vllm serve $MODEL --kv-cache-dtype $KV --port $PORT\n"
    )
    (found,) = load("systemd").read(str(tmp_path / "a.service"), text)
    assert found.model == "org/chat"
    assert [site.value for site in found.sites] == [UNKNOWN, "fp8_e5m2", UNKNOWN]
    with pytest.raises(CannotEditError, match="change it there"):
        load("systemd").edit(text, found, [Rewrite(found.sites[1], value="fp8")])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "torch\nvllm[audio]==0.10.1 ; python_version > '3.9'\n"),
        ("pyproject.toml", '[project]\ndependencies = [\n  "vllm==0.10.1",\n]\n'),
        ("environment.yml", "dependencies:\n  - pip:\n    - vllm==0.10.1\n"),
    ],
)
def test_pins_beside_the_script_tell_the_release(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (found,) = load("shell").read(str(tmp_path / "run.sh"), "vllm serve m\n")
    assert found.release is not None
    assert str(found.release.release) == "0.10.1"
    assert found.release.source.startswith(name)


def test_variables_alone_take_no_options() -> None:
    (found,) = load("dotenv").read(".env", "VLLM_ATTENTION_BACKEND=FLASHINFER\n")
    assert not found.takes_options
    with pytest.raises(CannotEditError, match="starts no engine"):
        load("dotenv").edit("", found, [Add("attention-backend", "FLASHINFER")])


@pytest.mark.parametrize("name", ["python", "nix"])
def test_programs_are_never_edited(name: str) -> None:
    case = next(case for case in CASES if DIALECTS[case.suffix] == name)
    text = text_of(case)
    for deployment in load(name).read("", text):
        assert not deployment.editable
        with pytest.raises(CannotEditError):
            load(name).edit(text, deployment, [Remove(deployment.sites[0])])


def without(name: str, text: str, option: str) -> str:
    edits: list[Edit] = []
    for deployment in load(name).read("", text):
        gone = [Remove(site) for site in deployment.sites if site.name == option]
        edits += load(name).edit(text, deployment, gone)
    return apply_edits(text, edits)
