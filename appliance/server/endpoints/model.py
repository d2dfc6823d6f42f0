"""GET /v1/models/{name}."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from appliance.server.context import Context
from appliance.server.endpoints.models import card
from appliance.server.errors import json_response


async def handle(context: Context, request: Request, body: dict[str, Any]) -> Response:
    return json_response(card(context, context.served_name(request.path_params["model"])))
