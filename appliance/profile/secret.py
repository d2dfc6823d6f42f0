"""How a section names a secret without holding it."""

from typing import Any, Self

from pydantic import ConfigDict, model_validator

from .setting import Section
from .types import FilePath, wants

VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"


def _only(name: str) -> dict[str, Any]:
    return {"required": [name], "properties": {name: {"type": "string"}}}


class Secret(Section):
    """Exactly one of an environment variable and a file; each section says what they hold."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [_only("env"), _only("file")]})

    env: str | None
    file: FilePath | None

    @model_validator(mode="after")
    def one_reference(self) -> Self:
        if (self.env is None) == (self.file is None):
            raise wants("exactly one of env and file")
        return self
