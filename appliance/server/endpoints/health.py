"""GET /health: the process is worth keeping. 503 when the engine died and is not back, or hangs."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from appliance.server.context import Context
from appliance.server.errors import json_response


async def handle(context: Context, request: Request, body: dict[str, Any]) -> Response:
    alive, reason = context.pulse.verdict()
    return json_response({"alive": alive, "reason": reason}, 200 if alive else 503)
