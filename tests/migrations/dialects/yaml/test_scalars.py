"""Scalars read character by character say what PyYAML says, and edits through them say what was asked."""

import shlex
from typing import Any

import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from appliance.migrations.canonical import apply_edits
from appliance.migrations.dialects.layers import FileLayer, replaced
from appliance.migrations.dialects.shell_words import commands, texts
from appliance.migrations.dialects.yaml_scalar import decode, plain_value, safe_plain, write_scalar
from appliance.migrations.dialects.yaml_tree import file_tree, mask

words = st.text(st.sampled_from("ab é'\"\\:#-\n\t{}[],&*!|>%@`0=~💥"), max_size=24)
styles = st.sampled_from(["'", '"', "|", ">", None])


def _scalars(node: Node) -> list[ScalarNode]:
    if isinstance(node, ScalarNode):
        return [node]
    if isinstance(node, MappingNode):
        return [scalar for pair in node.value for child in pair for scalar in _scalars(child)]
    return [scalar for child in node.value for scalar in _scalars(child)] if isinstance(node, SequenceNode) else []


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), st.lists(words, min_size=1), min_size=1), styles, st.booleans())
def test_decoded_as_the_loader_decodes(data: dict[str, Any], style: str | None, flow: bool) -> None:
    text = yaml.dump(data, default_style=style, default_flow_style=flow, allow_unicode=True, width=20)
    assume(mask(text) == text)
    layer = file_tree(text).layer
    for root in file_tree(text).roots:
        for scalar in _scalars(root):
            inlay = decode(layer, scalar)
            if inlay is None:
                assert scalar.style in ("|", ">")
            else:
                assert inlay.text == scalar.value


@settings(max_examples=200, deadline=None)
@given(words, words, st.sampled_from(["'", '"', ""]), st.booleans())
def test_new_text_says_what_was_asked(old: str, new: str, style: str, flow: bool) -> None:
    assume(style != "'" or "\n" not in old + new)
    text = f"[{write_scalar(old, style, True)}]" if flow else f"- {write_scalar(old, style)}\n"
    tree = file_tree(text)
    node = tree.roots[0].value[0]
    inlay = decode(tree.layer, node)
    assert inlay is not None and inlay.text == old
    if node.style in ("'", '"') and not (node.style == "'" and "\n" in new):
        assert yaml.safe_load(apply_edits(text, replaced(inlay, 0, len(old), new))) == [new]


@settings(max_examples=200, deadline=None)
@given(words, st.booleans())
def test_plain_text_is_kept_as_text(text: str, flow: bool) -> None:
    if safe_plain(text, flow):
        assert yaml.safe_load(f"[{text}]" if flow else f"- {text}") == [text]


def test_words_of_the_first_version() -> None:
    assert [plain_value(word) for word in ("no", "~", "0x10", "1_0", "1e3", "2024-01-01", "x")] == [
        False,
        None,
        16,
        10,
        "1e3",
        "2024-01-01",
        "x",
    ]


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab -='\"\\\n"), max_size=30))
def test_shell_words_are_those_of_a_shell(text: str) -> None:
    try:
        expected = shlex.split(text.replace("\\\n", ""))
    except ValueError:
        return
    assume("\\" not in text and "\n" not in text)
    assert [word for command in commands(text) for word in texts(command)] == expected


def test_shell_commands() -> None:
    text = "A=1 x 'b c' && y \"d $(e f)\" ${g:-h i} {{ j k }} > log 2>&1; # z\nw \\\n -v\n\n  -u # t\n"
    found = commands(text)
    assert [texts(command) for command in found] == [
        ["A=1", "x", "b c"],
        ["y", "d $(e f)", "${g:-h i}", "{{ j k }}"],
        ["w", "-v", "-u"],
    ]
    for command in found:
        for word in command:
            layer = word.layer(FileLayer(text))
            assert "".join(text[layer.bounds(i, i + 1)[0]] for i in range(len(word.text))) == word.text


def test_masks_keep_every_place() -> None:
    text = '{{- if .a }}\nx: {{ .b }} # {% c %}\n{{- end }}\ny: \'{"a": {"b": 1}}\'\n'
    masked = mask(text)
    assert len(masked) == len(text)
    assert yaml.safe_load(masked) == {"x": "x" * len("{{ .b }}"), "y": '{"a": {"b": 1}}'}


def test_an_opening_that_nobody_closes_hides_nothing_else() -> None:
    text = 'ports: ["${{PORT}:80"]\nargs:\n  - --seed\n  # why: {{ }}\n  - a{% b\n  - {% c %}d\n'
    assert mask(text) == text.replace("{{ }}", "xxxxx").replace("{% c %}", "xxxxxxx")


def test_nested_json_closes_no_expression() -> None:
    text = 'ports: ["${{PORT}:80"]\nargs:\n  - \'{"a": {"b": 1}}\'\n  - {{ one\n    two }}\n'
    assert mask(text) == text.replace("{{ one", "xxxxxx").replace("    two }}", "xxxxxxxxxx")
