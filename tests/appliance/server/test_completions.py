"""/v1/completions before an engine that repeats the prompt: what comes back can be said beforehand."""

import json
from typing import Any

import httpx
import pytest


def chunks(response: httpx.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def text_of(streamed: list[dict[str, Any]], index: int = 0) -> str:
    return "".join(c["text"] for chunk in streamed for c in chunk["choices"] if c["index"] == index)


def choice(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    return response.json()["choices"][0]


def test_the_answer_has_every_field_of_the_format(server: Any) -> None:
    answer = server.complete("hello", max_tokens=7).json()
    assert answer["id"].startswith("cmpl-")
    assert answer["object"] == "text_completion"
    assert answer["model"] == "bytes"
    assert answer["choices"] == [
        {
            "index": 0,
            "text": "hellohe",
            "logprobs": None,
            "finish_reason": "length",
            "stop_reason": None,
            "token_ids": None,
            "prompt_token_ids": None,
            "prompt_logprobs": None,
        }
    ]
    assert answer["usage"] == {
        "prompt_tokens": 5,
        "completion_tokens": 7,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 4},
    }


def test_sixteen_tokens_come_where_none_are_asked_for(server: Any) -> None:
    assert server.complete("ab").json()["usage"]["completion_tokens"] == 16


@pytest.mark.parametrize(
    ("prompt", "texts"),
    [
        ("ab", ["aba"]),
        (["ab", "xyz"], ["aba", "xyz"]),
        ([97, 98], ["aba"]),
        ([[97, 98], [120]], ["aba", "xxx"]),
    ],
    ids=["text", "texts", "ids", "id-lists"],
)
def test_every_form_of_prompt(server: Any, prompt: Any, texts: list[str]) -> None:
    answer = server.complete(prompt, max_tokens=3)
    assert [c["text"] for c in answer.json()["choices"]] == texts
    streamed = chunks(server.complete(prompt, max_tokens=3, stream=True))
    assert [text_of(streamed, i) for i in range(len(texts))] == texts


def test_n_copies_of_each_prompt_in_order_with_seeds_of_their_own(server: Any) -> None:
    answer = server.complete(["ab", "cd"], n=2, max_tokens=2, seed=7).json()
    assert [(c["index"], c["text"]) for c in answer["choices"]] == [(0, "ab"), (1, "ab"), (2, "cd"), (3, "cd")]
    assert answer["usage"]["prompt_tokens"] == 4
    assert answer["usage"]["completion_tokens"] == 8


def test_characters_of_several_tokens_are_never_split(server: Any) -> None:
    streamed = chunks(server.complete("é→😀", max_tokens=9, stream=True))
    pieces = [c["text"] for chunk in streamed for c in chunk["choices"] if c["text"]]
    assert pieces == ["é", "→", "😀"]


def test_an_unfinished_character_is_shown_as_such(server: Any) -> None:
    assert choice(server.complete("é", max_tokens=3))["text"] == "é�"


def test_stop_string(server: Any) -> None:
    stopped = choice(server.complete("one two. three", max_tokens=50, stop=". t"))
    assert (stopped["text"], stopped["finish_reason"], stopped["stop_reason"]) == ("one two", "stop", ". t")
    kept = choice(server.complete("one two. three", max_tokens=50, stop=[". t"], include_stop_str_in_output=True))
    assert kept["text"] == "one two. t"
    streamed = chunks(server.complete("one two. three", max_tokens=50, stop=[". t", "zzz"], stream=True))
    assert text_of(streamed) == "one two"
    assert streamed[-1]["choices"][0]["finish_reason"] == "stop"


def test_a_stop_string_frees_the_engine(server: Any) -> None:
    before = server.engine.journal["aborted"]
    assert choice(server.complete("abcd", max_tokens=200, stop="d"))["text"] == "abc"
    server.until(lambda: server.engine.journal["aborted"] == before + 1, "the engine was told")


def test_a_stop_string_that_began_before_the_last_token_is_text(server: Any) -> None:
    assert choice(server.complete("abcd", max_tokens=3, stop="cdx"))["text"] == "abc"


def test_min_tokens_puts_stop_strings_off(server: Any) -> None:
    assert choice(server.complete("abc", max_tokens=20, min_tokens=5, stop="c"))["text"] == "abcab"


def test_stop_token(server: Any) -> None:
    stopped = choice(server.complete("abc", max_tokens=50, stop_token_ids=[99]))
    assert (stopped["text"], stopped["finish_reason"], stopped["stop_reason"]) == ("ab", "stop", 99)
    assert choice(server.complete("abc", stop_token_ids=[99], include_stop_str_in_output=True))["text"] == "abc"


def test_end_of_sequence(server: Any) -> None:
    ended = choice(server.complete([97, 98, 256], max_tokens=50))
    assert (ended["text"], ended["finish_reason"], ended["stop_reason"]) == ("ab", "stop", None)
    assert choice(server.complete([97, 98, 256], max_tokens=5, ignore_eos=True))["text"] == "abab"
    shown = server.complete([97, 98, 256], max_tokens=5, ignore_eos=True, skip_special_tokens=False)
    assert choice(shown)["text"] == "ab<end>ab"


def test_logprobs(server: Any) -> None:
    block = choice(server.complete("abc", max_tokens=2, logprobs=2))["logprobs"]
    assert block["tokens"] == ["a", "b"]
    assert block["token_logprobs"] == [-0.5, -0.5]
    assert block["top_logprobs"] == [{"a": -0.5, "b": -1.5}, {"b": -0.5, "c": -1.5}]
    assert block["text_offset"] == [0, 1]


def test_logprobs_of_chosen_tokens(server: Any) -> None:
    block = choice(server.complete("a", max_tokens=1, logprobs=0, logprob_token_ids=[120, 121]))["logprobs"]
    assert set(block["top_logprobs"][0]) == {"x", "y", "a"}


def test_tokens_as_ids(server: Any) -> None:
    block = choice(server.complete("a", max_tokens=1, logprobs=0, return_tokens_as_token_ids=True))["logprobs"]
    assert block["tokens"] == ["token_id:97"]


def test_echo_with_logprobs_begins_with_the_prompt(server: Any) -> None:
    for stream in (False, True):
        answer = server.complete("ab", max_tokens=1, echo=True, logprobs=1, stream=stream)
        block = (chunks(answer)[0] if stream else answer.json())["choices"][0]
        assert block["text"] == "aba"
        assert block["logprobs"]["tokens"] == ["a", "b", "a"]
        assert block["logprobs"]["token_logprobs"] == [None, -0.5, -0.5]
        assert block["logprobs"]["text_offset"] == [0, 1, 2]


def test_echo_alone_generates_nothing(server: Any) -> None:
    answer = server.complete("abc", max_tokens=0, echo=True, logprobs=1).json()
    assert answer["choices"][0]["text"] == "abc"
    assert answer["choices"][0]["logprobs"]["tokens"] == ["a", "b", "c"]
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 0


def test_prompt_logprobs(server: Any) -> None:
    entries = choice(server.complete("ab", max_tokens=1, prompt_logprobs=1))["prompt_logprobs"]
    assert entries == [None, {"98": {"logprob": -0.5, "rank": 1, "decoded_token": "b"}}]


def test_token_ids_on_request(server: Any) -> None:
    answer = choice(server.complete("ab", max_tokens=3, return_token_ids=True))
    assert (answer["token_ids"], answer["prompt_token_ids"]) == ([97, 98, 97], [97, 98])


def test_stream_usage(server: Any) -> None:
    options = {"include_usage": True}
    streamed = chunks(server.complete("ab", max_tokens=2, stream=True, stream_options=options))
    assert [chunk["usage"] for chunk in streamed[:-1]] == [None, None]
    assert streamed[-1]["choices"] == []
    assert streamed[-1]["usage"]["total_tokens"] == 4
    options["continuous_usage_stats"] = True
    streamed = chunks(server.complete("ab", max_tokens=2, stream=True, stream_options=options))
    assert [chunk["usage"]["completion_tokens"] for chunk in streamed] == [1, 2, 2]


def test_sampling_reaches_the_engine(server: Any) -> None:
    asked = {
        "temperature": 0.7,
        "top_k": 5,
        "top_p": 0.9,
        "min_p": 0.1,
        "repetition_penalty": 1.2,
        "presence_penalty": 0.5,
        "frequency_penalty": -0.5,
        "seed": 42,
        "ignore_eos": True,
    }
    server.complete("ab", max_tokens=4, min_tokens=1, logit_bias={"97": -5}, cache_salt="me", priority=3, **asked)
    sampling = server.engine.journal["sampling"]
    assert {name: sampling[name] for name in asked} == asked
    assert sampling["logit_bias"] == {"97": -5.0}
    assert server.engine.journal["request"]["cache_salt"] == "me"
    assert server.engine.journal["request"]["priority"] == 3


def test_sampling_defaults_of_the_checkpoint_give_way_to_the_request(boot: Any) -> None:
    server = boot(sampling_defaults={"temperature": 0.6, "top_k": 20}, max_tokens_default=9)
    server.complete("ab", top_k=-1)
    assert server.engine.journal["sampling"]["temperature"] == 0.6
    assert "top_k" not in server.engine.journal["sampling"]
    assert server.engine.journal["sampling"]["max_tokens"] == 9


def test_the_checkpoints_length_ends_a_chat_that_names_none(boot: Any) -> None:
    server = boot(sampling_defaults={"max_new_tokens": 5})
    assert server.chat("hey").json()["usage"]["completion_tokens"] == 5
    assert server.chat("hey", max_tokens=7).json()["usage"]["completion_tokens"] == 7
    assert server.complete("hey").json()["usage"]["completion_tokens"] == 16


def test_request_id(server: Any) -> None:
    assert server.complete("a", request_id="mine").json()["id"] == "cmpl-mine"
    answer = server.http.post("/v1/completions", json={"prompt": "a"}, headers={"X-Request-Id": "theirs"})
    assert answer.json()["id"] == answer.headers["x-request-id"] == "cmpl-theirs"


def test_max_tokens_beyond_the_context_shrinks_or_is_refused(server: Any, boot: Any) -> None:
    assert server.complete("a" * 250, max_tokens=100).json()["usage"]["completion_tokens"] == 6
    alone = server.complete("a", max_tokens=257)
    assert alone.status_code == 400 and "257" in alone.text and "256" in alone.text
    strict = boot(max_tokens_overflow="reject")
    refused = strict.complete("a" * 250, max_tokens=100)
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "max_tokens"
    assert strict.complete("a" * 250, max_tokens=6).status_code == 200


def test_a_prompt_over_the_context_is_refused_with_numbers(server: Any) -> None:
    answer = server.complete("a" * 256, max_tokens=1)
    assert answer.status_code == 400
    assert "256 tokens" in answer.json()["error"]["message"]
    assert server.complete("a" * 255, max_tokens=1).status_code == 200
    assert server.complete("a" * 1_000_000, max_tokens=1).status_code == 400


def test_an_engine_failure_of_one_request_is_that_requests_failure(server: Any) -> None:
    answer = server.complete([97, 259])
    assert answer.status_code == 500
    assert answer.json()["error"]["message"] == "the request cannot be computed"
    assert server.complete("ab").status_code == 200


def test_an_engine_about_to_end_sends_its_callers_to_the_next_one(server: Any) -> None:
    answer = server.complete([97, 257])
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert answer.json()["error"]["message"] == "the engine is draining"
