"""Chat templates against Transformers, and what happens to templates and messages that are wrong."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_model

from appliance.engine.tokenizer import ChatError, ChatTimeoutError, Tokenizer, TokenizerError, load
from appliance.engine.tokenizer.chat import ChatTemplate

CHATML = tiny_model.CHAT_TEMPLATE
TOOLS_AND_REASONING = """
{%- set state = namespace(first=true, last=0) %}
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}
        {{- tool | tojson(indent=2) }}
        {{- '\\n' ~ (tool.function | tojson) }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'system' %}
        {%- if not state.first %}{% continue %}{% endif %}
        {%- set state.first = false %}
    {%- endif %}
    {%- if message.role == 'assistant' %}
        {% generation %}
        {{- '<|im_start|>assistant\\n' }}
        {%- if message.reasoning_content is defined and enable_thinking is not false %}
            {{- '<think>' + message.reasoning_content + '</think>' }}
        {%- endif %}
        {{- message.content }}
        {%- for call in message.tool_calls or [] %}
            {{- '<call>' + call.function.name + ' ' + (call.function.arguments | tojson) + '</call>' }}
            {%- if loop.last %}{% break %}{% endif %}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
        {% endgeneration %}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- endif %}
    {%- set state.last = loop.index %}
{%- endfor %}
{{- state.last ~ eos_token ~ dict(a=1)['a'] }}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}
{%- endif %}
"""
PARTS = """
{%- macro body(content) %}
    {%- if content is string %}{{ content | trim }}{% else %}
        {%- for part in content %}{% if part.type == 'text' %}{{ part.text | trim }}{% endif %}{% endfor %}
    {%- endif %}
{%- endmacro %}
{%- if (messages | length) % 2 == 0 %}{{ raise_exception('roles must take turns') }}{% endif %}
{%- for message in messages %}
<turn>{{ message['role'] }}
{{ body(message['content']) }}</turn>
{% endfor %}
{%- if add_generation_prompt %}<turn>model
{% endif %}"""

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "wetter",
            "description": "Größe <b> & 漢字",
            "parameters": {"type": "object", "properties": {"ort": {"type": "string", "enum": ["Zürich", 'a"b']}}},
        },
    }
]
CHATS: dict[str, list[dict[str, Any]]] = {
    "one": [{"role": "user", "content": "hi"}],
    "markup": [{"role": "user", "content": "  {{ 7 * 7 }} <|im_end|> <b>&amp; 漢字 😀 \\n {% raise %} "}],
    "empty": [{"role": "user", "content": ""}],
    "three": [
        {"role": "system", "content": "be brief\n"},
        {"role": "user", "content": " a \n"},
        {"role": "assistant", "content": "b ", "reasoning_content": "hm"},
    ],
    "calls": [
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "wetter", "arguments": {"ort": "Zürich", "n": 1.50}},
                }
            ],
        },
        {"role": "tool", "content": '{"grad": 3}', "tool_call_id": "1"},
    ],
}


@pytest.fixture(scope="module")
def with_template(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Tokenizer, Any]]:
    """(ours, Transformers') over one tokenizer that carries the given template."""
    from transformers import AutoTokenizer

    made: dict[str, tuple[Tokenizer, Any]] = {}

    def make(template: str) -> tuple[Tokenizer, Any]:
        if template not in made:
            folder = tmp_path_factory.mktemp("tokenizer")
            tiny_model.make_tokenizer(folder)
            (folder / "chat_template.jinja").write_text(template)
            made[template] = load(folder), AutoTokenizer.from_pretrained(folder)
        return made[template]

    return make


@pytest.mark.parametrize("name", CHATS)
@pytest.mark.parametrize("tools", [None, TOOLS], ids=["plain", "tools"])
@pytest.mark.parametrize("prompt", [True, False], ids=["prompt", "closed"])
@pytest.mark.parametrize("template", [CHATML, TOOLS_AND_REASONING, PARTS], ids=["chatml", "tools", "parts"])
def test_rendering_equals_transformers(
    template: str, prompt: bool, tools: list[dict[str, Any]] | None, name: str, with_template: Callable[..., Any]
) -> None:
    ours, theirs = with_template(template)
    expected = theirs.apply_chat_template(
        CHATS[name], tools=tools, add_generation_prompt=prompt, tokenize=False, enable_thinking=False
    )
    assert ours.render_chat(CHATS[name], tools, prompt, enable_thinking=False) == expected


@pytest.mark.parametrize("template", [CHATML, TOOLS_AND_REASONING, PARTS], ids=["chatml", "tools", "parts"])
def test_continuing_the_final_message_equals_transformers(template: str, with_template: Callable[..., Any]) -> None:
    ours, theirs = with_template(template)
    expected = theirs.apply_chat_template(CHATS["three"], tokenize=False, continue_final_message=True)
    found = ours.render_chat(CHATS["three"], add_generation_prompt=False, continue_final_message=True)
    assert found == expected
    assert found.endswith("b" if template == PARTS else "b ")


def test_the_real_model_equals_transformers(smollm2: Path, own_cache: Path) -> None:
    from transformers import AutoTokenizer

    ours, theirs = load(smollm2), AutoTokenizer.from_pretrained(str(smollm2.parent), gguf_file=smollm2.name)
    for chat in CHATS.values():
        expected = theirs.apply_chat_template(chat, tokenize=True, add_generation_prompt=True, return_dict=False)
        assert ours.encode(ours.render_chat(chat), add_special_tokens=False) == expected


def test_parts_become_text_where_the_template_wants_text(with_template: Callable[..., Any]) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "input_text", "text": "two"}]
    ours, _ = with_template(CHATML)
    assert ours.render_chat([{"role": "user", "content": parts}]) == ours.render_chat(
        [{"role": "user", "content": "one\ntwo"}]
    )
    walking, theirs = with_template(PARTS)
    chat = [{"role": "user", "content": [{"type": "text", "text": " one"}, {"type": "text", "text": "two"}]}]
    assert walking.render_chat(chat) == theirs.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)


@pytest.mark.parametrize(
    ("template", "form"),
    [
        (CHATML, "string"),
        (TOOLS_AND_REASONING, "string"),
        (PARTS, "parts"),
        ("{% for m in messages %}{% for part in m.content %}{{ part.text }}{% endfor %}{% endfor %}", "parts"),
        (
            "{% for m in messages %}{% set c = m['content'] %}{% for p in c[1:] %}x{% endfor %}{% endfor %}",
            "parts",
        ),
        (
            "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}x{% endfor %}{% endfor %}",
            "string",
        ),
    ],
)
def test_content_form_is_read_from_the_template(template: str, form: str) -> None:
    assert ChatTemplate(template, "here").content_format == form


def test_openai_arguments_and_nulls(with_template: Callable[..., Any]) -> None:
    ours, _ = with_template(TOOLS_AND_REASONING)
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"b": 1, "a": "ü"}'}}
    text = ours.render_chat([{"role": "assistant", "content": None, "tool_calls": [call]}], add_generation_prompt=False)
    assert text.startswith('<|im_start|>assistant\n<call>f {"b": 1, "a": "ü"}</call><|im_end|>')
    assert isinstance(call["function"]["arguments"], str)


def test_a_developer_speaks_as_system_where_the_template_knows_none(with_template: Callable[..., Any]) -> None:
    ours, _ = with_template(CHATML)
    assert ours.render_chat([{"role": "developer", "content": "x"}]).startswith("<|im_start|>system\nx")


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        (
            [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
            "refuses these messages: roles must take turns",
        ),
        ([{"content": "x"}], r"messages\[0\]: a message is an object with a role"),
        (["x"], r"messages\[0\]: a message is an object with a role"),
        ([{"role": "user", "content": 5}], r"messages\[0\].content: must be text or a list of parts"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
            r'content\[0\]: .*text parts only.*"image_url"',
        ),
        ([{"role": "user", "content": [{"type": "text"}]}], r"content\[0\].text: must be text"),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}], "not valid JSON"),
        (
            [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "[1]"}}]}],
            "must be a JSON object",
        ),
        ([{"role": "assistant", "tool_calls": ["x"]}], "only calls of type function"),
    ],
)
def test_messages_that_do_not_fit_are_told(messages: list[Any], says: str, with_template: Callable[..., Any]) -> None:
    with pytest.raises(ChatError, match=says):
        with_template(PARTS)[0].render_chat(messages)


@pytest.mark.parametrize("name", ["messages", "tools", "add_generation_prompt", "chat_template", "tokenize"])
def test_template_arguments_cannot_replace_the_request(name: str, with_template: Callable[..., Any]) -> None:
    template = with_template(CHATML)[0].chat_templates["default"]
    with pytest.raises(ChatError, match=f"chat_template_kwargs: {name}"):
        template.render([{"role": "user", "content": "x"}], None, True, False, {name: []})


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{{ raise_exception.__globals__['json'] }}",
        "{% set n = namespace() %}{% set n.__class__ = 1 %}",
        "{{ namespace(_x=1) }}",
        "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
        "{{ 1 / 0 }}",
        "{{ missing.deeper.still }}",
        "{% include 'other' %}",
    ],
)
def test_the_sandbox_holds(attack: str) -> None:
    with pytest.raises(ChatError, match="the chat template"):
        ChatTemplate(attack, "here").render([{"role": "user", "content": "x"}], None, True, False, {})


def test_an_endless_template_is_stopped() -> None:
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    before = threading.active_count()
    template = ChatTemplate(loop, "here", render_seconds=0.2)
    with pytest.raises(ChatTimeoutError, match=r"did not finish within 0\.2 seconds"):
        template.render([{"role": "user", "content": "x"}], None, True, False, {})
    deadline = time.monotonic() + 20
    while threading.active_count() > before:
        assert time.monotonic() < deadline, "the overdue thread still runs"
        time.sleep(0.01)


@pytest.mark.parametrize("product", ["'x' * 10**10", "10**10 * 'x'", "[1] * 10**12", "10**99999999"])
def test_a_product_that_fills_the_memory_is_refused(product: str) -> None:
    """Neither computed while the template is compiled nor for a request."""
    template = ChatTemplate(f"{{{{ '-' * 3 }}}}{{% if messages %}}{{{{ {product} }}}}{{% endif %}}", "here")
    with pytest.raises(ChatError, match="too l"):
        template.render([{"role": "user", "content": "yes"}], None, False, False, {})
    assert template.render([], None, False, False, {}) == "---"


def test_a_broken_template_is_told_at_boot(tmp_path: Path) -> None:
    tiny_model.make_tokenizer(tmp_path)
    (tmp_path / "chat_template.jinja").write_text("fine\n{% for m in %}\n")
    with pytest.raises(TokenizerError, match=r"the chat template is broken in line 2: .*model\.chat_template"):
        load(tmp_path)


def test_a_given_template_replaces_the_checkpoints(tmp_path: Path) -> None:
    tiny_model.make_tokenizer(tmp_path)
    own = tmp_path / "own.jinja"
    own.write_text("{{ messages[0].content | upper }}")
    assert load(tmp_path, chat_template=own).render_chat([{"role": "user", "content": "hi"}]) == "HI"
    own.write_bytes(b"\xff\xfe")
    with pytest.raises(TokenizerError, match=r"own\.jinja: the chat template cannot be read"):
        load(tmp_path, chat_template=own)


def test_named_templates(tmp_path: Path) -> None:
    tiny_model.make_tokenizer(tmp_path)
    (tmp_path / "chat_template.jinja").unlink(missing_ok=True)
    config_path = tmp_path / "tokenizer_config.json"
    config = json.loads(config_path.read_text())
    named = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "{{ tools | length }} tools"}]
    config_path.write_text(json.dumps(config | {"chat_template": named}))
    tokenizer = load(tmp_path)
    assert tokenizer.render_chat([]) == "plain"
    assert tokenizer.render_chat([], tools=TOOLS) == "1 tools"


def test_without_a_template_chat_is_refused(tmp_path: Path) -> None:
    tiny_model.make_tokenizer(tmp_path)
    (tmp_path / "chat_template.jinja").unlink(missing_ok=True)
    config_path = tmp_path / "tokenizer_config.json"
    config = json.loads(config_path.read_text())
    config.pop("chat_template", None)
    config_path.write_text(json.dumps(config))
    tokenizer = load(tmp_path)
    assert tokenizer.chat_template is None
    with pytest.raises(ChatError, match=r"no chat template.*use /v1/completions.*model\.chat_template"):
        tokenizer.render_chat([{"role": "user", "content": "x"}])
