"""Messages that a chat template cannot take, and templates that are wrong, endless or hostile."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_model
from chat_templates import CHATML, PARTS

from appliance.engine.tokenizer import ChatError, ChatTimeoutError, TokenizerError, load
from appliance.engine.tokenizer.chat import ChatTemplate


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
