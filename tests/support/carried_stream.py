"""A stream that engines end under: what was read of it, and whether that is whole."""

import json
import threading
from typing import Any

import httpx

PROMPT = "abcdefghijklm"
TOKENS = 60
STREAM = {
    "prompt": PROMPT,
    "max_tokens": TOKENS,
    "stream": True,
    "return_token_ids": True,
    "stream_options": {"include_usage": True},
}


class Stream:
    """One streamed answer, read by a thread of its own; `failure` is the error event that ended it."""

    def __init__(self, server: Any, **more: Any) -> None:
        self.texts: dict[int, str] = {}
        self.ids: dict[int, list[int]] = {}
        self.logprobs: list[float] = []
        self.ends: dict[int, str] = {}
        self.usage: dict[str, Any] = {}
        self.failure: dict[str, Any] | None = None
        self._thread = threading.Thread(target=self._read, args=(server.url, {**STREAM, **more}))
        self._thread.start()

    def _read(self, url: str, body: dict[str, Any]) -> None:
        with httpx.stream("POST", f"{url}/v1/completions", json=body, timeout=60) as stream:
            for line in stream.iter_lines():
                if line and line != "data: [DONE]":
                    self._take(json.loads(line.removeprefix("data: ")))

    def _take(self, value: dict[str, Any]) -> None:
        self.failure = value.get("error", self.failure)
        self.usage = value.get("usage") or self.usage
        for choice in value.get("choices", ()):
            number = choice["index"]
            self.texts[number] = self.texts.get(number, "") + choice["text"]
            self.ids[number] = self.ids.get(number, []) + (choice["token_ids"] or [])
            if choice["logprobs"]:
                self.logprobs += choice["logprobs"]["token_logprobs"]
            if choice["finish_reason"]:
                self.ends[number] = choice["finish_reason"]

    def began(self) -> bool:
        return all(len(ids) >= 3 for ids in self.ids.values()) and bool(self.ids)

    def end(self) -> "Stream":
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self


def whole(stream: Stream, choices: int = 1) -> None:
    """Nothing is missing, nothing is there twice."""
    assert stream.failure is None
    expected = (PROMPT * TOKENS)[:TOKENS]
    assert stream.texts == dict.fromkeys(range(choices), expected)
    assert stream.ids == {number: list(expected.encode()) for number in range(choices)}
    assert stream.ends == dict.fromkeys(range(choices), "length")
    usage = stream.usage
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (len(PROMPT), TOKENS * choices)
    assert usage["prompt_tokens_details"]["cached_tokens"] == len(PROMPT) - 1
