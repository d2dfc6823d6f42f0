"""What a request sends on: as it came, but with the name that vLLM has for the adapter that it asks."""

import re
from typing import Any, Protocol

import msgspec

from appliance.server.proxy.adapters import Adapters

MODEL = re.compile(rb'name="model"\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]+)\r\n')


class Body(Protocol):
    def content(self, adapters: Adapters) -> tuple[bytes, str | None]:
        """And the model it asks, under its client's name."""
        ...


class JsonBody:
    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def content(self, adapters: Adapters) -> tuple[bytes, str | None]:
        model = self._fields.get("model")
        own = adapters.of(model)
        fields = self._fields if own is None else {**self._fields, "model": own}
        return msgspec.json.encode(fields), model if isinstance(model, str) else None


class FormBody:
    """multipart/form-data; files in it stay as they are."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def content(self, adapters: Adapters) -> tuple[bytes, str | None]:
        found = MODEL.search(self._content)
        if found is None:
            return self._content, None
        model = found.group(1).decode(errors="replace")
        own = adapters.of(model)
        if own is None:
            return self._content, model
        return self._content[: found.start(1)] + own.encode() + self._content[found.end(1) :], model
