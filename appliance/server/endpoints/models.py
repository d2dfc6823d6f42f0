"""GET /v1/models: one card per name of the model and per adapter."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from appliance.server.context import Context
from appliance.server.errors import json_response


def card(context: Context, name: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "created": context.created,
        "owned_by": "appliance",
        "root": name if name in context.config.adapters else context.config.served_names[0],
        "parent": context.config.served_names[0] if name in context.config.adapters else None,
        "max_model_len": context.config.max_context,
    }


async def handle(context: Context, request: Request, body: dict[str, Any]) -> Response:
    return json_response({"object": "list", "data": [card(context, name) for name in context.names]})
