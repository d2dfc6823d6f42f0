"""What every endpoint is handed: settings, the engine, the tokenizer, and the counters they share."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from appliance.engine.client import EngineClient
from appliance.engine.protocol import Request
from appliance.engine.tokenizer import Tokenizer
from appliance.server.admission import Admission
from appliance.server.config import ServerConfig
from appliance.server.errors import ApiError, unavailable
from appliance.server.generation import Generation

if TYPE_CHECKING:
    from appliance.server.metrics import Metrics
    from appliance.server.pulse import Pulse
    from appliance.server.readiness import Readiness


@dataclass
class Context:
    config: ServerConfig
    engine: EngineClient
    tokenizer: Tokenizer
    admission: Admission
    metrics: "Metrics"
    pulse: "Pulse"
    readiness: "Readiness"
    created: int = field(default_factory=lambda: int(time.time()))
    """Unix seconds of this start."""
    draining: bool = False
    active: int = 0
    """HTTP requests being answered, the open routes aside."""
    generations: set[Generation] = field(default_factory=set)
    """Those that run now."""
    unknown_fields: set[str] = field(default_factory=set)
    """Request fields already logged as unknown."""

    def check_serving(self) -> None:
        """Raises ApiError 503 with Retry-After while nothing can be generated."""
        if self.draining:
            raise unavailable("the server is shutting down", retry_after=5)
        if self.engine.ready is None:
            raise unavailable(f"the engine is not serving: {self.engine.reason}", retry_after=2)

    def generate(self, requests: list[Request]) -> Generation:
        """`async with context.generate(requests) as updates: async for update in updates` gives every Update.

        Entering submits the requests together; raises ApiError 503 when the queue is full or the engine is down.
        `updates.finish(request_id, reason)` ends one early, leaving aborts what has not finished.
        """
        return Generation(self.engine, self.admission, self.metrics, self.generations, requests)

    def served_name(self, model: str | None) -> str:
        """The name the answer carries; raises ApiError 404 for a model that is not served."""
        if model is None:
            return self.config.served_names[0]
        if model in self.config.served_names:
            return model
        offered = ", ".join(self.config.served_names)
        raise ApiError(404, f'the model "{model[:120]}" does not exist; this server has: {offered}', "model")
