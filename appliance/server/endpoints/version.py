"""GET /version: the appliance's own version and the engine release its profile is written for."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from appliance import __version__
from appliance.server.context import Context
from appliance.server.errors import json_response


async def handle(context: Context, request: Request, body: dict[str, Any]) -> Response:
    return json_response({"version": __version__, "release": context.config.release})
