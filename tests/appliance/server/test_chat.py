"""/v1/chat/completions through the official client, and what only a raw request can show."""

import json
from typing import Any

import openai
import pytest

TWO = [{"role": "user", "content": "hey"}]


def test_whole_answer(server: Any) -> None:
    answer = server.openai.chat.completions.create(model="bytes", messages=TWO, max_tokens=4)
    assert answer.id.startswith("chatcmpl-")
    assert answer.object == "chat.completion"
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].message.content == "u:he"
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.prompt_tokens == len("u:hey\na:")
    assert answer.usage.prompt_tokens_details.cached_tokens == 7
    assert answer.system_fingerprint.startswith("appliance-")


def test_streamed_answer(server: Any) -> None:
    stream = server.openai.chat.completions.create(
        model="alias", messages=TWO, max_tokens=4, stream=True, stream_options={"include_usage": True}
    )
    first, *middle, last, usage = list(stream)
    assert first.choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content for chunk in [first, *middle, last]) == "u:he"
    assert [chunk.choices[0].finish_reason for chunk in [first, *middle, last]] == [None] * 4 + ["length"]
    assert usage.choices == [] and usage.usage.completion_tokens == 4
    assert {chunk.model for chunk in middle} == {"alias"}


def test_without_a_limit_the_context_is_the_limit(server: Any) -> None:
    answer = server.openai.chat.completions.create(model="bytes", messages=TWO)
    assert answer.usage.total_tokens == 256


def test_max_completion_tokens(server: Any) -> None:
    answer = server.openai.chat.completions.create(model="bytes", messages=TWO, max_completion_tokens=3)
    assert answer.usage.completion_tokens == 3


def test_logprobs(server: Any) -> None:
    answer = server.openai.chat.completions.create(
        model="bytes", messages=[{"role": "é", "content": ""}], max_tokens=2, logprobs=True, top_logprobs=2
    )
    first = answer.choices[0].logprobs.content[0]
    assert (first.logprob, first.bytes) == (-0.5, [0xC3])
    assert [top.logprob for top in first.top_logprobs] == [-0.5, -1.5]


def test_streamed_logprobs_cover_every_token(server: Any) -> None:
    stream = server.openai.chat.completions.create(
        model="bytes", messages=TWO, max_tokens=5, logprobs=True, stream=True, stop=["zz", "eyq"]
    )
    entries = [e for chunk in stream if chunk.choices[0].logprobs for e in chunk.choices[0].logprobs.content]
    assert "".join(entry.token for entry in entries) == "u:hey"


def test_token_ids_on_request(server: Any) -> None:
    whole = server.chat("hey", max_tokens=2, return_token_ids=True).json()
    assert bytes(whole["prompt_token_ids"]) == b"u:hey\na:"
    assert bytes(whole["choices"][0]["token_ids"]) == b"u:"
    stream = server.chat("hey", max_tokens=2, return_token_ids=True, stream=True).text.split("\n\n")[:-2]
    first, *rest = [json.loads(line.removeprefix("data: ")) for line in stream]
    assert bytes(first["prompt_token_ids"]) == b"u:hey\na:"
    assert b"".join(bytes(chunk["choices"][0]["token_ids"]) for chunk in rest) == b"u:"


def test_text_parts(server: Any) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert server.chat(parts, max_tokens=9).json()["choices"][0]["message"]["content"] == "u:one\ntwo"


def test_continue_final_message_and_echo(server: Any) -> None:
    messages = [*TWO, {"role": "assistant", "content": "well"}]
    body = {"messages": messages, "add_generation_prompt": False, "continue_final_message": True, "echo": True}
    answer = server.http.post("/v1/chat/completions", json={**body, "max_tokens": 3}).json()
    assert answer["usage"]["prompt_tokens"] == len("u:hey\na:well")
    assert (
        answer["choices"][0]["message"] | {"content": "wellu:h", "role": "assistant"} == answer["choices"][0]["message"]
    )
    both = server.http.post("/v1/chat/completions", json={"messages": messages, "continue_final_message": True})
    assert both.status_code == 400


def test_unknown_model_names_the_known_ones(server: Any) -> None:
    with pytest.raises(openai.NotFoundError, match="bytes, alias"):
        server.openai.chat.completions.create(model="gpt-5", messages=TWO)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tools", [{"type": "function", "function": {"name": "f"}}]),
        ("tool_choice", "auto"),
        ("response_format", {"type": "json_object"}),
        ("structured_outputs", {"regex": "a+"}),
        ("chat_template", "{{ x }}"),
        ("use_beam_search", True),
        ("best_of", 2),
        ("reasoning_effort", "high"),
        ("allowed_token_ids", [1]),
        ("truncate_prompt_tokens", 5),
        ("guided_json", {}),
        ("guided_choice", ["a"]),
        ("guided_regex", None),
        ("functions", []),
    ],
)
def test_what_is_not_served_is_refused_by_name(server: Any, field: str, value: Any) -> None:
    answer = server.chat("hey", **{field: value})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == field
    assert answer.json()["error"]["message"].startswith(field)


def test_a_dead_field_names_its_replacement(server: Any) -> None:
    assert (
        'structured_outputs: {"json"' in server.chat("hey", guided_json={"type": "object"}).json()["error"]["message"]
    )


def test_neutral_values_of_unserved_fields_pass(server: Any) -> None:
    neutral = {"tools": None, "tool_choice": "none", "response_format": {"type": "text"}, "length_penalty": 1.0}
    assert server.chat("hey", max_tokens=1, logit_bias=None, user="me", **neutral).status_code == 200


@pytest.mark.parametrize(
    ("message", "param"),
    [
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
            "messages[0].content[0].type",
        ),
        ({"role": "tool", "content": "x"}, "messages[0].role"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, "messages[0].tool_calls"),
        ({"role": 5, "content": "x"}, "messages[0].role"),
        ({"content": "x"}, "messages[0].role"),
        ({"role": "user", "content": 5}, "messages[0].content"),
        ({"role": "user", "content": [{"type": "text", "text": None}]}, "messages[0].content[0].text"),
        ("hey", "messages[0]"),
    ],
)
def test_messages_that_cannot_be_read(server: Any, message: Any, param: str) -> None:
    answer = server.http.post("/v1/chat/completions", json={"messages": [message]})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


@pytest.mark.parametrize("kwargs", [{"messages": []}, {"self": 1}, {"tools": []}, {"add_generation_prompt": False}])
def test_template_arguments_cannot_replace_the_chat(server: Any, kwargs: dict[str, Any]) -> None:
    assert server.chat("hey", chat_template_kwargs=kwargs).status_code == 400


def test_each_event_is_one_line_of_json(server: Any) -> None:
    answer = server.chat("a\nb", max_tokens=6, stream=True)
    for block in answer.text.split("\n\n")[:-2]:
        assert json.loads(block.removeprefix("data: "))["object"] == "chat.completion.chunk"
