"""What an API server process is told at start. Built by the planner; no YAML and no profile behind this line."""

from dataclasses import dataclass, field
from typing import Literal

EndpointSwitch = Literal["on", "off", "required", "auto"]


Sync = Literal["Synced", "OutOfSync", "Invalid", "Degraded"]
"""How what runs relates to the text an operator keeps: equal; another on purpose; that text is refused; it failed."""


@dataclass(frozen=True)
class ReloadFacts:
    """What the metrics of every server say about reloads. Times in seconds since the epoch."""

    last_successful: bool = True
    last_success_time: float = 0.0
    sync: Sync = "Synced"
    git: Sync | None = None
    """How what runs relates to the followed repository; None = none is followed."""


@dataclass(frozen=True)
class ServerConfig:
    """Sent to the child as JSON on standard input. Secrets travel as environment name or file, never by value."""

    engine_addresses: tuple[str, ...]
    """One per replica: the ZeroMQ endpoint of a native engine, or where a vLLM process answers HTTP (`unix:/...`)."""
    model_path: str
    """Folder or .gguf: tokenizer and chat template are read from it."""
    served_names: tuple[str, ...]
    """First is the name in answers."""
    max_context: int
    profile_name: str
    release: str
    endpoints: dict[str, EndpointSwitch]
    api_keys: tuple[dict[str, str], ...] = ()
    """{"env": NAME} or {"file": PATH} each."""
    cors_origins: tuple[str, ...] = ()
    cors_credentials: bool = False
    metrics_open: bool = True
    """/metrics needs no key."""
    max_tokens_default: int | None = None
    max_tokens_overflow: Literal["shrink", "reject"] = "shrink"
    queue_requests: int = 256
    queue_tokens: int | None = None
    body_bytes: int = 32 * 1024 * 1024
    schema_depth: int = 64
    chat_template: str | None = None
    """Path of a Jinja file that replaces the checkpoint's."""
    sampling_defaults: dict[str, float] = field(default_factory=dict)
    """From generation_config.json; a request's own value wins."""
    drain_seconds: float = 30.0
    log_level: str = "info"
    log_format: Literal["text", "json"] = "text"
    access_log: bool = True
    config_hash: str = ""
    revision: int = 1
    generation: int = 1
    backend: Literal["native", "vllm"] = "native"
    adapters: dict[str, str] = field(default_factory=dict)
    """LoRA adapters served beside the model: folder by name."""
    elastic_size: int | None = None
    """Engines inside the one vLLM, where their number changes while it serves; None elsewhere."""
    reload: ReloadFacts = field(default_factory=ReloadFacts)
