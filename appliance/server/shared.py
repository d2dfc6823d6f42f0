"""What outlives every state of the server: connections, counts, numbers, and the gate for new work."""

from collections.abc import Callable
from dataclasses import dataclass

from appliance.server.admission import Admission
from appliance.server.board import Board
from appliance.server.config import ServerConfig
from appliance.server.errors import unavailable
from appliance.server.gate import Gate
from appliance.server.metrics import Metrics
from appliance.server.pool import Engines, Pool


@dataclass
class Shared:
    board: Board
    pool: Pool
    admission: Admission
    gate: Gate
    metrics: Metrics
    model: str = ""
    """The served name that numbers of the whole server carry."""
    draining: bool = False
    """SIGTERM came: what is new is refused."""
    leaving: bool = False
    """Other servers go on: what comes over connections that are open is answered, and the last there."""
    active: int = 0
    """HTTP requests being answered or held, the open routes aside."""
    leave: Callable[[float], None] = lambda seconds: None
    """Ends the process without a refusal: see control.Leave."""
    engines: Engines | None = None
    """Those of the current state; None where it has none that speak our protocol."""

    def check_serving(self) -> None:
        """Raises ApiError 503 once the server is on its way out."""
        if self.draining:
            raise unavailable("the server is shutting down", retry_after=5)


def make_shared(config: ServerConfig, board: Board, metrics_folder: str | None) -> Shared:
    admission = Admission(config.queue_requests, config.queue_tokens, board)
    shared = Shared(
        board, Pool(board.servers), admission, Gate(board, admission), Metrics(metrics_folder), config.served_names[0]
    )
    admission.rejected = lambda reason: shared.metrics.rejections.labels(shared.model, reason).inc()
    return shared
