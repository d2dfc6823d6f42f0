"""The one error shape every route answers with, and how failures become it.

`{"error": {"message", "type", "param", "code"}}` as OpenAI's clients read it; `code` is the HTTP status.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from fastapi import FastAPI, Request
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

logger = logging.getLogger("appliance.server")

TYPES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    405: "MethodNotAllowedError",
    413: "RequestTooLargeError",
    415: "UnsupportedMediaTypeError",
    500: "InternalServerError",
    501: "NotImplementedError",
    503: "ServiceUnavailableError",
}

SEEN_LENGTH = 80
"""Characters of a refused value that a message repeats."""

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass
class ApiError(Exception):
    """A request's failure with its answer. `param` is the request field at fault."""

    status: int
    message: str
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message

    @property
    def type(self) -> str:
        return TYPES.get(self.status, HTTPStatus(self.status).phrase.replace(" ", "") + "Error")

    def body(self) -> dict[str, Any]:
        return {"error": {"message": self.message, "type": self.type, "param": self.param, "code": self.status}}

    def response(self) -> Response:
        return json_response(self.body(), self.status, self.headers)


def bad_request(message: str, param: str | None = None) -> ApiError:
    return ApiError(400, message, param)


def unavailable(message: str, retry_after: int = 1) -> ApiError:
    """503; `retry_after` in seconds tells clients and balancers when another try makes sense."""
    return ApiError(503, message, headers={"Retry-After": str(retry_after)})


def unexpected(error: Exception, what: str) -> ApiError:
    """500 for a failure nobody foresaw; the log gets its traceback, the client none of it."""
    logger.error("%s failed", what, exc_info=error)
    return ApiError(500, "the server failed on this request; its log has the details")


def json_response(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")


def shown(value: Any) -> str:
    """The value as a message repeats it: short, in one line."""
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    return text if len(text) <= SEEN_LENGTH else text[: SEEN_LENGTH - 3] + "..."


def parse(model: type[ModelT], data: Any) -> ModelT:
    """Validates a decoded body; raises ApiError 400 that names field, fact and seen value."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _readable(error) from None


def _readable(error: ValidationError) -> ApiError:
    findings = []
    fields = []
    for item in error.errors(include_url=False):
        path = ""
        for part in item["loc"]:
            path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
        fact = item["msg"].removeprefix("Value error, ")
        fact = fact[:1].lower() + fact[1:]
        seen = "" if item["type"] in ("missing", "value_error") else f", got {shown(item['input'])}"
        findings.append(f"{path}: {fact}{seen}" if path else fact + seen)
        fields.append(path)
    return bad_request("; ".join(findings[:8]), fields[0] or None)


def install(app: FastAPI) -> None:
    async def known(request: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        return error.response()

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        message = {404: f"no route {request.url.path}", 405: f"{request.method} is not offered here"}
        headers = dict(error.headers or {})
        return ApiError(error.status_code, message.get(error.status_code, error.detail), headers=headers).response()

    async def unknown(request: Request, error: Exception) -> Response:
        return unexpected(error, f"{request.method} {request.url.path}").response()

    app.add_exception_handler(ApiError, known)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unknown)
