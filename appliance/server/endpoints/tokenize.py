"""POST /tokenize: the ids that a prompt or a chat becomes."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from appliance.server.context import Context
from appliance.server.errors import bad_request, json_response, parse
from appliance.server.fields import check_fields
from appliance.server.prompts import encode, render


class TokenizeRequest(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    model: str | None = None
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    add_special_tokens: bool | None = None
    """Default: true for a prompt, false for messages, whose template writes them."""
    return_token_strs: bool | None = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool | None = None
    chat_template_kwargs: dict[str, Any] | None = None


async def handle(context: Context, request: Request, body: dict[str, Any]) -> Response:
    check_fields(body, TokenizeRequest.model_fields, context.config.schema_depth, context.unknown_fields)
    fields = parse(TokenizeRequest, body)
    context.served_name(fields.model)
    if (fields.prompt is None) == (fields.messages is None):
        raise bad_request("send either prompt or messages", "prompt")
    if fields.messages is not None:
        text = await render(
            context,
            fields.messages,
            fields.add_generation_prompt is not False,
            fields.continue_final_message or False,
            fields.chat_template_kwargs,
        )
        ids = await encode(context, text, fields.add_special_tokens or False, "messages")
    else:
        ids = await encode(context, fields.prompt or "", fields.add_special_tokens is not False, "prompt")
    strings = [context.tokenizer.token(token_id) for token_id in ids] if fields.return_token_strs else None
    return json_response(
        {"count": len(ids), "max_model_len": context.config.max_context, "tokens": ids, "token_strs": strings}
    )
