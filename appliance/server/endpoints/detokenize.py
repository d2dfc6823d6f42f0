"""POST /detokenize: the text that token ids stand for, special tokens included."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from appliance.server.context import Context
from appliance.server.errors import json_response, parse
from appliance.server.sampling import check_ids


class DetokenizeRequest(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    model: str | None = None
    tokens: list[int]


async def handle(context: Context, request: Request, body: dict[str, Any]) -> Response:
    fields = parse(DetokenizeRequest, body)
    context.served_name(fields.model)
    check_ids(fields.tokens, context.tokenizer.vocab_size, "tokens")
    return json_response({"prompt": context.tokenizer.decode(fields.tokens)})
