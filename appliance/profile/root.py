"""The profile: everything an operator decides, one section per file beside this one."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from .endpoints import Endpoints
from .engine import Engine
from .gitops import GitOps
from .hardware import Hardware
from .kv_cache import KVCache
from .limits import Limits
from .model import Model
from .observability import Observability
from .parallelism import Parallelism
from .parsers import Parsers
from .reload import Reload
from .security import Security
from .setting import Section, section, setting
from .types import wants


class Profile(Section):
    schema_: Literal[1] = setting(
        alias="schema", description="Version of the profile's own format; 1 is the only one.", reload="engine"
    )
    name: str = setting(
        description="Name of the appliance in status, metrics and logs.",
        reload="live",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
        form="a name of letters, digits, dots and dashes (63 at most)",
    )
    release: str = setting(
        description='Engine semantics the profile is written for, as a quoted string: "0.32".',
        reload="engine",
        pattern=r"^[0-9]{1,3}\.[0-9]{1,3}$",
        form='a release such as "0.32"',
    )
    model: Model = Field(description="Which weights, under which names.")
    hardware: Hardware = section(Hardware, description="What of the machine the engine may use.")
    kv_cache: KVCache = section(KVCache, description="How keys and values of past tokens are kept.")
    parallelism: Parallelism = section(Parallelism, description="Spreading the work over devices and machines.")
    engine: Engine = section(Engine, description="How requests become batches.")
    endpoints: Endpoints = section(Endpoints, description="What the server answers.")
    parsers: Parsers = section(Parsers, description="Tool calls and reasoning in the model's output.")
    limits: Limits = section(Limits, description="What requests may ask for.")
    security: Security = section(Security, description="Who may reach the server, and what it may reach.")
    reload: Reload = section(Reload, description="How edits of the profile take effect.")
    gitops: Annotated[GitOps, Field(description="Following a git repository.")] | None = setting(
        None, description="Follow the profile in a git repository; null: the local file only.", reload="live"
    )
    observability: Observability = section(Observability, description="Logs.")

    @field_validator("schema_", mode="before")
    @classmethod
    def number(cls, value: Any) -> Any:
        """For Python true equals 1."""
        if isinstance(value, bool):
            raise wants("1", "write 1")
        return value
