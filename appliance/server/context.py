"""What every endpoint is handed: settings, the engines, the tokenizer, and the counters they share."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from appliance.engine.protocol import Request
from appliance.engine.tokenizer import Tokenizer
from appliance.server.adapters import Adapters
from appliance.server.admission import Admission
from appliance.server.config import ServerConfig
from appliance.server.errors import ApiError, unavailable
from appliance.server.generation import Generation
from appliance.server.metrics import Numbers
from appliance.server.moving import Road
from appliance.server.pool import Engines
from appliance.server.shared import Shared

if TYPE_CHECKING:
    from appliance.server.pulse import Pulse
    from appliance.server.readiness import Readiness


@dataclass
class Context:
    """Of one state."""

    config: ServerConfig
    shared: Shared
    engines: Engines
    tokenizer: Tokenizer
    admission: Admission
    """A state has one of its own while it proves itself, so that a full queue says nothing about it."""
    pulse: "Pulse"
    readiness: "Readiness"
    created: int = field(default_factory=lambda: int(time.time()))
    """Unix seconds of this state's start."""
    generations: set[Generation] = field(default_factory=set)
    """Those that run now."""
    arriving: int = 0
    """Requests that will need an engine and have not come that far."""
    unknown_fields: set[str] = field(default_factory=set)
    """Request fields already logged as unknown."""

    def __post_init__(self) -> None:
        self.adapters = Adapters(self.config.adapters)
        self._road = Road(self.engines, self.shared, self.config.served_names[0])

    @property
    def numbers(self) -> Numbers:
        """Of what is known before an engine is chosen."""
        return self.shared.metrics.numbers(self.config.served_names[0], "0")

    def check_serving(self) -> None:
        """Raises ApiError 503 with Retry-After while nothing can be generated."""
        self.shared.check_serving()
        if self.engines.ready is None and not self.engines.lead_on and not self.engines.deputy:
            raise unavailable(f"the engine is not serving: {self.engines.reason}", retry_after=2)

    def generate(self, requests: list[Request]) -> Generation:
        """`async with context.generate(requests) as updates: async for update in updates` gives every Update.

        Entering submits the requests together; raises ApiError 503 when the queue is full or the engine is down.
        `updates.finish(request_id, reason)` ends one early, leaving aborts what has not finished.
        """
        return Generation(self._road, self.admission, self.generations, requests)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the model, then of its adapters."""
        return (*self.config.served_names, *self.config.adapters)

    def served_name(self, model: str | None) -> str:
        """The name the answer carries; raises ApiError 404 for a model that is not served."""
        if model is None:
            return self.config.served_names[0]
        if model in self.names:
            return model
        offered = ", ".join(self.names)
        raise ApiError(404, f'the model "{model[:120]}" does not exist; this server has: {offered}', "model")
