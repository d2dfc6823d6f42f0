"""GET /ready: a real token has come out, and every required endpoint answered a real request."""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from appliance.server.context import Context
from appliance.server.errors import json_response


async def handle(context: Context, request: Request, body: dict[str, Any]) -> Response:
    readiness = context.readiness
    reason = readiness.reason
    gate = context.shared.gate
    if context.engines.ready is None and (not gate.closed or gate.overdue):
        reason = reason or context.engines.reason
    if context.shared.draining:
        reason = "the server is shutting down"
    answer = {
        "ready": not reason,
        "reason": reason,
        "held": gate.waiting if gate.closed else None,
        "checks": {name: asdict(check) for name, check in readiness.checks.items()},
        "profile": context.config.profile_name,
        "generation": context.config.generation,
    }
    return json_response(answer, 503 if reason else 200, {"Retry-After": "2"} if reason else None)
