"""Text and messages to token ids, off the event loop where they are long."""

import asyncio
from typing import Any

from appliance.engine.tokenizer import ChatError, TextError
from appliance.server.context import Context
from appliance.server.errors import ApiError, bad_request, shown

LONG_TEXT = 8192
"""Characters from which on tokenising moves to a thread."""
TAKEN = frozenset({"self", "messages", "tools", "add_generation_prompt", "continue_final_message"})


async def encode(context: Context, text: str, add_special_tokens: bool, param: str) -> list[int]:
    """Raises ApiError 400 for text that cannot be tokenised, or is so long that it can never fit the context."""
    if len(text) < LONG_TEXT:
        return _encode(context, text, add_special_tokens, param)
    return await asyncio.to_thread(_encode_long, context, text, add_special_tokens, param)


def _encode(context: Context, text: str, add_special_tokens: bool, param: str) -> list[int]:
    try:
        return context.tokenizer.encode(text, add_special_tokens)
    except TextError as error:
        raise bad_request(f"{param}: {error}", param) from None


def _encode_long(context: Context, text: str, add_special_tokens: bool, param: str) -> list[int]:
    """What can never fit is refused unread: a megabyte of digits takes seconds to tokenise."""
    fewest, most = context.tokenizer.fewest_tokens(text), context.config.max_context
    if fewest > most:
        raise bad_request(f"{param}: the text has at least {fewest} tokens, the context holds {most}", param)
    return _encode(context, text, add_special_tokens, param)


async def render(
    context: Context,
    messages: list[dict[str, Any]],
    add_generation_prompt: bool,
    continue_final_message: bool,
    template_kwargs: dict[str, Any] | None,
) -> str:
    """The prompt text of a chat; raises ApiError 400."""
    variables = template_kwargs or {}
    if taken := sorted(TAKEN & variables.keys()):
        raise bad_request(f"chat_template_kwargs: {', '.join(taken)} cannot be set this way", "chat_template_kwargs")
    check_messages(messages)

    def run() -> str:
        return context.tokenizer.render_chat(
            messages,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            template_kwargs=variables,
        )

    try:
        return await asyncio.to_thread(run)
    except ChatError as error:
        raise bad_request(str(error), "messages") from None


def check_messages(messages: list[dict[str, Any]]) -> None:
    """Refuses with the field's name what would not reach the model: tools, images, audio."""
    if not messages:
        raise bad_request("messages: there must be at least one", "messages")
    for i, message in enumerate(messages):
        where = f"messages[{i}]"
        role = message.get("role")
        if not isinstance(role, str) or not role:
            raise bad_request(f"{where}.role: must be a role's name, got {shown(role)}", f"{where}.role")
        if role in ("tool", "function"):
            raise _refused(f"{where}.role", role, "tool calls are not served by this release")
        for name in ("tool_calls", "function_call", "tool_call_id", "audio"):
            if message.get(name) not in (None, [], ""):
                raise _refused(f"{where}.{name}", message[name], "only text is served by this release")
        _check_content(where, message.get("content"))


def _check_content(where: str, content: Any) -> None:
    if isinstance(content, str | None):
        return
    if not isinstance(content, list):
        raise bad_request(f"{where}.content: must be text or a list of parts, got {shown(content)}", f"{where}.content")
    for j, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind != "text":
            raise _refused(f"{where}.content[{j}].type", kind, "only text parts are served by this release")
        if not isinstance(part.get("text"), str):
            path = f"{where}.content[{j}].text"
            raise bad_request(f"{path}: must be text, got {shown(part.get('text'))}", path)


def _refused(path: str, value: Any, reason: str) -> ApiError:
    return bad_request(f"{path}: {shown(value)} is not served: {reason}", path)
