"""Which of vLLM's many routes are let through, and what is special about each. No other path reaches it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from appliance.server.config import ServerConfig
from appliance.server.errors import ApiError
from appliance.server.sse import DONE, event

Failure = Callable[[ApiError], list[bytes]]


def openai_failure(error: ApiError) -> list[bytes]:
    return [event(error.body()), DONE]


def anthropic_failure(error: ApiError) -> list[bytes]:
    kind = "overloaded_error" if error.status == 503 else "api_error"
    return [b"event: error\n" + event({"type": "error", "error": {"type": kind, "message": error.message}})]


def responses_failure(error: ApiError) -> list[bytes]:
    body = {"type": "error", "code": str(error.status), "message": error.message, "param": error.param}
    return [b"event: error\n" + event(body)]


@dataclass(frozen=True)
class Route:
    path: str
    switch: str | None = None
    """The profile's `endpoints.<switch>`; None = always there."""
    work: bool = True
    """Needs the engine: counts against the queue, waits while new work is held."""
    body: Literal["json", "form"] = "json"
    output: str = ""
    """Field of the request that limits the output, where there is one; its other names follow after a blank."""
    sequences: Callable[[dict[str, Any]], int] = lambda body: 1
    """Places in the queue that it takes."""
    failure: Failure = openai_failure
    """How a stream tells that it broke."""

    def offered(self, config: ServerConfig) -> bool:
        return self.switch is None or config.endpoints.get(self.switch, "on") != "off"


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 1


def _choices(body: dict[str, Any]) -> int:
    return _count(body.get("n"))


def _prompts(body: dict[str, Any]) -> int:
    prompt = body.get("prompt")
    several = isinstance(prompt, list) and prompt and isinstance(prompt[0], str | list)
    return _choices(body) * (len(prompt) if several and isinstance(prompt, list) else 1)


def _questions(body: dict[str, Any]) -> int:
    questions = body.get("questions")
    return max(1, len(questions)) if isinstance(questions, dict) else 1


ROUTES: tuple[Route, ...] = (
    Route("/v1/chat/completions", "chat", output="max_tokens max_completion_tokens", sequences=_choices),
    Route("/v1/completions", "completions", output="max_tokens", sequences=_prompts),
    Route("/v1/responses", "responses", output="max_output_tokens", failure=responses_failure),
    Route("/v1/messages", "messages", output="max_tokens", failure=anthropic_failure),
    Route("/v1/messages/count_tokens", "messages", work=False),
    Route("/v1/embeddings", "embeddings"),
    Route("/v1/audio/transcriptions", "transcriptions", body="form"),
    Route("/v1/systemone", "systemone", sequences=_questions),
    Route("/tokenize", work=False),
    Route("/detokenize", work=False),
)
