"""How much work may be in flight at once: unfinished requests, and prompt tokens not yet prefilled.

The limits are those of all API server processes together; a new state of the server changes them, the counts go on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from appliance.server.board import Board
from appliance.server.errors import bad_request, unavailable

Reason = Literal["max_num_queued_reqs", "max_num_queued_tokens"]


class Ticket:
    """One caller's share. `prefilled` gives its tokens back early, leaving gives back the rest."""

    def __init__(self, board: Board, requests: int, tokens: int) -> None:
        self._board = board
        self._requests = requests
        self._tokens = tokens

    def prefilled(self, tokens: int) -> None:
        tokens = min(tokens, self._tokens)
        self._tokens -= tokens
        self._board.tokens -= tokens

    def close(self) -> None:
        self._board.requests -= self._requests
        self._board.tokens -= self._tokens
        self._requests = self._tokens = 0


class Admission:
    """`max_requests` counts running and waiting ones; `max_tokens` None = no limit."""

    def __init__(self, max_requests: int, max_tokens: int | None, board: Board) -> None:
        self.max_requests = max_requests
        self.max_tokens = max_tokens
        self.rejected: Callable[[Reason], None] = lambda reason: None
        """Told of every request that a limit refuses."""
        self._board = board

    @property
    def all_requests(self) -> int:
        return self._board.all_requests

    @property
    def all_tokens(self) -> int:
        return self._board.all_tokens

    @contextmanager
    def enter(self, requests: int, tokens: int) -> Iterator[Ticket]:
        """Holds `requests` places and `tokens` prompt tokens; raises ApiError 503 when the queue is full."""
        if requests > self.max_requests:
            raise bad_request(f"this asks for {requests} sequences at once, the queue holds {self.max_requests}")
        unfinished, waiting = self.all_requests, self.all_tokens
        if unfinished + requests > self.max_requests:
            self.rejected("max_num_queued_reqs")
            raise unavailable(f"the queue is full: {unfinished} of {self.max_requests} requests are unfinished")
        if self.max_tokens is not None and waiting >= self.max_tokens:
            self.rejected("max_num_queued_tokens")
            raise unavailable(f"the queue is full: {waiting} prompt tokens wait, the limit is {self.max_tokens}")
        self._board.requests += requests
        self._board.tokens += tokens
        ticket = Ticket(self._board, requests, tokens)
        try:
            yield ticket
        finally:
            ticket.close()
