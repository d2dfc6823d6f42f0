"""Operations, one by one, on texts small enough to read."""

from textwrap import dedent

import pytest
from yaml_cases import FAMILY

from appliance.migrations.canonical import Kind, OptionSite, apply_edits
from appliance.migrations.dialects import load
from appliance.migrations.operations import KEEP, Add, CannotEditError, Comment, Insert, Operation, Raw, Remove, Rewrite

COMPOSE = "services:\n  a:\n    image: vllm/vllm-openai:v0.9.0\n"

POD = """\
kind: Pod
apiVersion: v1
spec:
  containers:
  - image: vllm/vllm-openai:v0.9.0
    args: [m, --max-model-len=1]
    env:
    - {name: VLLM_LOGGING_LEVEL, valueFrom: {configMapKeyRef: {name: a, key: b}}}
"""


class Page:
    """A text with one deployment."""

    def __init__(self, dialect: str, text: str) -> None:
        self.dialect = load(dialect)
        self.text = text
        (self.deployment,) = self.dialect.read("x.yaml", text)

    def __getitem__(self, name: str) -> OptionSite:
        return next(site for site in self.deployment.sites if site.name == name)

    def after(self, *operations: Operation) -> str:
        return apply_edits(self.text, self.dialect.edit(self.text, self.deployment, operations))


def engine(text: str) -> Page:
    return Page("vllm-config", "max-model-len: 1\n" + dedent(text))


def compose(command: str) -> Page:
    return Page("compose", COMPOSE + command)


def test_keys_take_their_neighbours_spelling() -> None:
    page = engine("swap_space: 4 # host\n")
    assert page.after(Rewrite(page["swap-space"], "new-name")).endswith("new_name: 4 # host\n")


def test_false_is_written_as_the_loader_reads_it() -> None:
    page = engine("enable-prefix-caching: false\n")
    assert page.after(Rewrite(page["enable-prefix-caching"])).endswith("no-enable-prefix-caching: true\n")


def test_a_word_that_the_loader_takes_for_a_boolean_gets_quotes() -> None:
    page = engine("tokenizer: no\n")
    assert page.after(Rewrite(page["tokenizer"])).endswith('tokenizer: "no"\n')


def test_nested_keys_of_one_option_come_together() -> None:
    page = engine("speculative-model: a\nnum-speculative-tokens: 5\nport: 1\n")
    first, second = page["speculative-model"], page["num-speculative-tokens"]
    after = page.after(
        Rewrite(first, "speculative-config", name_path=("model",)),
        Remove(second),
        Add("speculative-config", 5, ("num_speculative_tokens",), after=second),
    )
    assert after.endswith("speculative-config: {model: a, num_speculative_tokens: 5}\nport: 1\n")


@pytest.mark.parametrize(
    ("before", "operation", "after"),
    [
        ('\'{"a":1, "b":{"c":2}}\'', "remove", '\'{"b":{"c":2}}\''),
        ('\'{"a":1, "b":{"c":2}}\'', "rename", '\'{"z":1, "b":{"c":2}}\''),
        ('\'{"a":1, "b":{"c":2}}\'', "insert", '\'{"a":1, "b":{"c":2, "d": true}}\''),
        ('"{\\"a\\":1}"', "insert", '"{\\"a\\":1, \\"b\\": {\\"d\\": true}}"'),
        ("{a: 1, b: {c: 2}}", "insert", "{a: 1, b: {c: 2, d: true}}"),
        ("\n  a: 1 # one\n  b:\n    c: 2", "insert", "\n  a: 1 # one\n  b:\n    c: 2\n    d: true"),
        ("\n  a: 1 # one\n  b:\n    c: 2", "remove", "\n  b:\n    c: 2"),
        ("\n  # zero\n  a: 1 # one", "remove", "{} \n  # zero"),
    ],
)
def test_inside_a_value(before: str, operation: str, after: str) -> None:
    page = engine(f"compilation-config: {before}\nport: 1\n")
    site = page["compilation-config"]
    operations: dict[str, Operation] = {
        "remove": Remove(site, ("a",)),
        "rename": Rewrite(site, "z", path=("a",)),
        "insert": Insert(site, ("b", "d"), True),
    }
    assert page.after(operations[operation]) == f"max-model-len: 1\ncompilation-config: {after}\nport: 1\n"


@pytest.mark.parametrize(
    ("command", "after"),
    [
        ("    command: [--model=m, --swap-space=4]\n", "    command: [--model=m, --new=4, --extra=x]\n"),
        (
            "    command:\n      - --model\n      - m\n      - --swap-space # s\n      - '4'\n",
            "    command:\n      - --model\n      - m\n      - --new # s\n      - '4'\n      - --extra\n      - x\n",
        ),
        ("    command: --model m --swap-space 4 -tp 2\n", "    command: --model m --new 4 -tp 2 --extra x\n"),
        (
            "    command: |\n      --model m\n      --swap-space 4\n",
            "    command: |\n      --model m\n      --new 4\n      --extra x\n",
        ),
        (
            "    command: >\n      --model m\n      --swap-space 4\n\n    tty: true\n",
            "    command: >\n      --model m\n      --new 4\n      --extra x\n\n    tty: true\n",
        ),
        (
            "    command:\n      --model m\n      --swap-space 4\n    tty: true\n",
            "    command:\n      --model m\n      --new 4\n      --extra x\n    tty: true\n",
        ),
        (
            "    command: '--model m\n      --swap-space 4'\n",
            "    command: '--model m\n      --new 4\n      --extra x'\n",
        ),
        (
            '    command: "--model m\n      --swap-space 4"\n',
            '    command: "--model m\n      --new 4 --extra x"\n',
        ),
    ],
)
def test_renamed_and_added_in_the_style_of_the_list(command: str, after: str) -> None:
    page = compose(command)
    assert page.after(Rewrite(page["swap-space"], "new"), Add("extra", "x")) == COMPOSE + after


def test_json_in_every_quote() -> None:
    value = {"a": "b c"}
    for command, after in [
        ("[--model=m, --swap-space=4]", '[--model=m, \'--new={"a": "b c"}\']'),
        ("--model m --swap-space 4", '--model m --new \'{"a":"b c"}\''),
        ('"--model m --swap-space 4"', '"--model m --new \'{\\"a\\": \\"b c\\"}\'"'),
        ("'--model m --swap-space 4'", "'--model m --new ''{\"a\": \"b c\"}'''"),
        ('sh -c "vllm serve m --swap-space 4"', 'sh -c "vllm serve m --new \'{\\"a\\":\\"b c\\"}\'"'),
    ]:
        page = compose(f"    command: {command}\n")
        assert page.after(Rewrite(page["swap-space"], "new", value)) == f"{COMPOSE}    command: {after}\n"


def test_variables_keep_their_form() -> None:
    for before, after in [
        ('{VLLM_USE_V1: "1"}', '{VLLM_NEW: "0", VLLM_MORE: "5"}'),
        ("[VLLM_USE_V1=1]", "[VLLM_NEW=0, VLLM_MORE=5]"),
        ("\n      - 'VLLM_USE_V1=1' # on", "\n      - 'VLLM_NEW=0' # on\n      - 'VLLM_MORE=5'"),
        ("\n      VLLM_USE_V1: 1", '\n      VLLM_NEW: "0"\n      VLLM_MORE: "5"'),
    ]:
        page = compose(f"    command: [--model=m]\n    environment: {before}\n")
        found = page.after(Rewrite(page["VLLM_USE_V1"], "VLLM_NEW", "0"), Add("VLLM_MORE", 5, kind=Kind.ENV))
        assert found == f"{COMPOSE}    command: [--model=m]\n    environment: {after}\n"


def test_text_of_others_is_taken_over() -> None:
    page = compose("    command: [--model=m]\n    environment: {VLLM_ATTENTION_BACKEND: '${B:-X}'}\n")
    after = page.after(Remove(page["VLLM_ATTENTION_BACKEND"]), Add("attention-backend", Raw("${B:-X}")))
    assert after == COMPOSE + '    command: [--model=m, "--attention-backend=${B:-X}"]\n    environment: {}\n'


def test_what_cannot_be_done_is_said() -> None:
    page = compose("    command: [--model=m]\n    environment:\n      - VLLM_ATTENTION_BACKEND\n")
    site = page["VLLM_ATTENTION_BACKEND"]
    with pytest.raises(CannotEditError, match="somewhere else"):
        page.after(Remove(site), Add("attention-backend", Raw("")))
    page = compose("    environment: {VLLM_USE_V1: '1'}\n")
    with pytest.raises(CannotEditError, match="no place"):
        page.after(Add("attention-backend", "X"))
    page = Page("kubernetes", POD)
    with pytest.raises(CannotEditError, match="somewhere else"):
        page.after(Rewrite(page["VLLM_LOGGING_LEVEL"], value="INFO"))
    assert "- {name: VLLM_OTHER, valueFrom:" in page.after(Rewrite(page["VLLM_LOGGING_LEVEL"], "VLLM_OTHER"))


def test_an_anchored_list_is_edited_once() -> None:
    text = COMPOSE + "    command: &c [--model=m, --swap-space=4]\n  b:\n    image: vllm/vllm-openai\n    command: *c\n"
    dialect = load("compose")
    first, second = dialect.read("x.yaml", text)
    assert [site.name for site in first.sites] == [site.name for site in second.sites]
    assert len(dialect.edit(text, first, [Remove(first.sites[1])])) == 1
    assert dialect.edit(text, second, [Remove(second.sites[1])]) == []


def test_a_chart_takes_what_it_has_no_key_for_as_arguments() -> None:
    text = "servingEngineSpec:\n  modelSpec:\n  - name: a\n    vllmConfig:\n      maxModelLen: 1\n      swapSpace: 4\n"
    page = Page("production-stack", text)
    after = page.after(Rewrite(page["swap-space"], "new", KEEP))
    assert after == text.replace("swapSpace: 4", 'extraArgs: ["--new", "4"]')


def test_json_gets_no_remarks() -> None:
    page = Page("registry", '{"m": {"vllm_args": ["--max-model-len", "1"], "note": "vllm"}}')
    assert page.after(Comment(page["max-model-len"], "why")) == page.text


def test_every_dialect_is_listed() -> None:
    assert [load(name).name for name in FAMILY] == list(FAMILY)
