"""GET /metrics in Prometheus' text format."""

from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

from appliance.server.context import Context


async def handle(context: Context, request: Request, body: dict[str, Any]) -> Response:
    return Response(context.shared.metrics.render(), headers={"Content-Type": CONTENT_TYPE_LATEST})
