"""Sampling values out of range or of the wrong type: 400 with the field's name, never a 500 or a silent correction."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

INVALID = [
    ("temperature", -0.1),
    ("temperature", 2.1),
    ("temperature", "hot"),
    ("temperature", True),
    ("top_p", 0),
    ("top_p", 1.01),
    ("top_k", -2),
    ("top_k", 1.5),
    ("min_p", -0.1),
    ("min_p", 1.1),
    ("repetition_penalty", 0),
    ("repetition_penalty", -1),
    ("presence_penalty", 2.5),
    ("frequency_penalty", -2.5),
    ("max_tokens", 0),
    ("max_tokens", -1),
    ("max_tokens", 10**9),
    ("max_tokens", 10**30),
    ("max_tokens", "5"),
    ("min_tokens", -1),
    ("min_tokens", 10),
    ("n", 0),
    ("n", 100_000),
    ("seed", 2**63),
    ("seed", -(2**63) - 1),
    ("seed", 1.5),
    ("stop", ""),
    ("stop", ["a", ""]),
    ("stop", ["a"] * 5),
    ("stop", [str(i) for i in range(1000)]),
    ("stop", 5),
    ("stop", [None]),
    ("stop_token_ids", [260]),
    ("stop_token_ids", [-1]),
    ("stop_token_ids", "a"),
    ("stop_token_ids", [True]),
    ("logit_bias", {"a": 1}),
    ("logit_bias", {"-1": 1}),
    ("logit_bias", {"260": 1}),
    ("logit_bias", {"5": 101}),
    ("logit_bias", {"5": "x"}),
    ("logit_bias", {"5": True}),
    ("logit_bias", [1]),
    ("logit_bias", {"²": 1}),
    ("logit_bias", {"9" * 5000: 1}),
    ("logprobs", -1),
    ("logprobs", 21),
    ("prompt_logprobs", 21),
    ("prompt_logprobs", -1),
    ("logprob_token_ids", [5]),
    ("cache_salt", ""),
    ("cache_salt", "a/b"),
    ("cache_salt", "a@b"),
    ("cache_salt", "a\0b"),
    ("cache_salt", "x" * 129),
    ("priority", "high"),
    ("request_id", "a b"),
    ("request_id", ""),
    ("stream", "yes"),
    ("stream_options", {"include_usage": True}),
    ("stream_options", 5),
    ("model", 5),
    ("echo", 1),
]


@pytest.mark.parametrize(("field", "value"), INVALID, ids=lambda value: str(value)[:24])
def test_an_invalid_value_is_refused_with_its_name(server: Any, field: str, value: Any) -> None:
    before = server.engine.journal["submitted"]
    answer = server.complete("ab", **{"max_tokens": 5, field: value})
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["type"] == "BadRequestError"
    assert error["param"].split(".")[0].split("[")[0] == field
    assert field in error["message"] and len(error["message"]) < 400
    assert server.engine.journal["submitted"] == before


def test_greedy_copies_are_refused(server: Any) -> None:
    assert server.complete("ab", n=2, temperature=0).json()["error"]["param"] == "n"


def test_chosen_tokens_do_not_go_with_echo(server: Any) -> None:
    answer = server.complete("ab", echo=True, logprobs=1, logprob_token_ids=[5])
    assert answer.json()["error"]["param"] == "logprob_token_ids"


def test_a_message_says_what_was_seen_and_what_is_allowed(server: Any) -> None:
    assert server.complete("ab", temperature=3).json()["error"]["message"] == (
        "temperature: input should be less than or equal to 2, got 3"
    )


@pytest.mark.parametrize(
    "prompt", ["", [], [[]], [""], None, 5, {"a": 1}, ["a", 5], [[1], "a"], [260], [-1], [1.5], [True], [[[1]]]]
)
def test_an_invalid_prompt(server: Any, prompt: Any) -> None:
    answer = server.complete(prompt, max_tokens=1)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "prompt"


def test_too_many_prompts(server: Any) -> None:
    assert "1025" in server.complete(["a"] * 1025).json()["error"]["message"]


@pytest.mark.parametrize("value", [False, 5, "x"])
def test_chat_flags(server: Any, value: Any) -> None:
    assert server.chat("x", top_logprobs=2).json()["error"]["param"] == "top_logprobs"
    assert server.chat("x", max_tokens=1, max_completion_tokens=2).status_code == 400
    assert server.chat("x", chat_template_kwargs=value).status_code == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=4,
)
FIELDS = sorted(
    {field for field, _ in INVALID} | {"prompt", "messages", "skip_special_tokens", "chat_template_kwargs", "tools"}
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4),
    path=st.sampled_from(["completions", "chat/completions"]),
)
def test_no_json_makes_the_server_fail(server: Any, body: dict[str, Any], path: str) -> None:
    body = {"prompt": "a", "messages": [{"role": "user", "content": "a"}], "max_tokens": 1, **body}
    answer = server.http.post(f"/v1/{path}", json=body)
    assert answer.status_code in (200, 400, 404), answer.text
    if answer.status_code != 200:
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


def test_a_text_that_can_never_fit_is_not_tokenised(server: Any) -> None:
    """The longest token of this vocabulary has seven characters, the context 256 tokens."""
    text, refusal = "0123456789" * 100_000, "the text has at least 142857 tokens, the context holds 256"
    tokenized = server.http.post("/tokenize", json={"prompt": text})
    for answer, param in ((server.complete(text), "prompt"), (server.chat(text), "messages"), (tokenized, "prompt")):
        error = answer.json()["error"]
        assert answer.status_code == 400 and error["param"] == param
        assert refusal in error["message"]
    fits = server.http.post("/tokenize", json={"prompt": "<start>" * 200})
    assert fits.json()["count"] == 200


def test_a_chat_that_can_never_fit_is_refused_by_tokenize_too(server: Any) -> None:
    answer = server.http.post("/tokenize", json={"messages": [{"role": "user", "content": "7" * 20_000}]})
    assert answer.status_code == 400 and "at least 2857 tokens" in answer.json()["error"]["message"]
