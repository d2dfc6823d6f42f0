"""Chat templates against Transformers, and where templates come from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_model
from chat_templates import CHATML, CHATS, PARTS, TOOLS, TOOLS_AND_REASONING

from appliance.engine.tokenizer import TokenizerError, load
from appliance.engine.tokenizer.chat import ChatTemplate


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
