"""What is checked and filled in before vLLM sees a request: it would ignore some of it, and shrink what is too long."""

from typing import Any

from appliance.server.body import check_depth
from appliance.server.config import ServerConfig
from appliance.server.errors import bad_request
from appliance.server.fields import DEAD, SCHEMA_FIELDS
from appliance.server.proxy.routes import Route

WITH_DEAD_FIELDS = ("/v1/chat/completions", "/v1/completions")


def check_request(route: Route, body: dict[str, Any], config: ServerConfig) -> None:
    """Raises ApiError 400."""
    for name in SCHEMA_FIELDS:
        check_depth(body.get(name), config.schema_depth, name)
    if route.path in WITH_DEAD_FIELDS:
        for name in body.keys() & DEAD.keys():
            raise bad_request(f"{name} is gone; write {DEAD[name]} instead", name)


def asked_output(route: Route, body: dict[str, Any]) -> int | None:
    """Tokens the request itself asks for."""
    for name in route.output.split():
        value = body.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def with_default_output(route: Route, body: dict[str, Any], config: ServerConfig) -> dict[str, Any]:
    default = config.max_tokens_default
    if default is None or not route.output or any(body.get(name) is not None for name in route.output.split()):
        return body
    return {**body, route.output.split()[0]: default}


def question_for_tokens(body: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Bodies for vLLM's /tokenize that together count this request's prompt; None where it cannot say."""
    if isinstance(body.get("messages"), list):
        kept = ("model", "messages", "tools", "chat_template_kwargs", "add_generation_prompt", "continue_final_message")
        return [{name: body[name] for name in kept if body.get(name) is not None}]
    prompt = body.get("prompt")
    prompts = [prompt] if isinstance(prompt, str) else prompt if isinstance(prompt, list) else []
    if not prompts or not all(isinstance(text, str) for text in prompts):
        return None
    model = {"model": body["model"]} if body.get("model") is not None else {}
    return [{**model, "prompt": text} for text in prompts]


def given_tokens(body: dict[str, Any]) -> list[int] | None:
    """Lengths of prompts that are token ids already."""
    prompt = body.get("prompt")
    if not isinstance(prompt, list) or not prompt:
        return None
    if all(isinstance(item, int) for item in prompt):
        return [len(prompt)]
    return [len(item) for item in prompt] if all(isinstance(item, list) for item in prompt) else None
