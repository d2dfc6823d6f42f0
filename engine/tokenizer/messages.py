"""OpenAI messages as chat templates expect them: plain data, one form of content, tool arguments as objects."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .content_format import ContentFormat
from .errors import ChatError

TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal", "thinking": "thinking"}
REASONING = ("reasoning_content", "thinking", "reasoning")


def prepare(messages: Sequence[Any], form: ContentFormat, knows_developer: bool) -> list[dict[str, Any]]:
    """Fresh dicts; raises ChatError that names the message at fault."""
    return [_message(index, message, form, knows_developer) for index, message in enumerate(messages)]


def _message(index: int, message: Any, form: ContentFormat, knows_developer: bool) -> dict[str, Any]:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise ChatError(f"messages[{index}]: a message is an object with a role")
    prepared = {key: value for key, value in message.items() if value is not None}
    if prepared["role"] == "developer" and not knows_developer:
        prepared["role"] = "system"
    prepared["content"] = _content(index, message.get("content"), form)
    reasoning = next((prepared[name] for name in REASONING if name in prepared), None)
    if reasoning is not None:
        prepared = {"thinking": reasoning, **prepared, "reasoning_content": reasoning}
    if "tool_calls" in prepared:
        calls = _tool_calls(index, prepared.pop("tool_calls"))
        if calls:
            prepared["tool_calls"] = calls
    return prepared


def _content(index: int, content: Any, form: ContentFormat) -> Any:
    if isinstance(content, str):
        return content if form == "string" else [{"type": "text", "text": content}]
    if content is None:
        return "" if form == "string" else []
    if not isinstance(content, Sequence):
        raise ChatError(f"messages[{index}].content: must be text or a list of parts")
    texts = [_text(f"messages[{index}].content[{number}]", part) for number, part in enumerate(content)]
    return "\n".join(texts) if form == "string" else [{"type": "text", "text": text} for text in texts]


def _text(where: str, part: Any) -> str:
    if isinstance(part, str):
        return part
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind not in TEXT_PARTS:
        raise ChatError(f"{where}: this model takes text parts only, got {json.dumps(kind)}")
    text = part.get(TEXT_PARTS[kind])
    if not isinstance(text, str):
        raise ChatError(f"{where}.{TEXT_PARTS[kind]}: must be text")
    return text


def _tool_calls(index: int, calls: Any) -> list[dict[str, Any]]:
    where = f"messages[{index}].tool_calls"
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise ChatError(f"{where}: must be a list")
    return [_tool_call(f"{where}[{number}]", call) for number, call in enumerate(calls)]


def _tool_call(where: str, call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or call.get("type", "function") != "function":
        raise ChatError(f"{where}: only calls of type function are known")
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError as error:
            raise ChatError(f"{where}.function.arguments: not valid JSON: {error}") from None
    if not isinstance(arguments, Mapping):
        raise ChatError(f"{where}.function.arguments: must be a JSON object")
    return {**call, "function": {**function, "arguments": arguments}}
