"""How much work may be in flight at once: unfinished requests, and prompt tokens not yet prefilled."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from appliance.server.errors import bad_request, unavailable

Reason = Literal["max_num_queued_reqs", "max_num_queued_tokens"]


class Ticket:
    """One caller's share. `prefilled` gives its tokens back early, leaving gives back the rest."""

    def __init__(self, admission: "Admission", requests: int, tokens: int) -> None:
        self._admission = admission
        self._requests = requests
        self._tokens = tokens

    def prefilled(self, tokens: int) -> None:
        tokens = min(tokens, self._tokens)
        self._tokens -= tokens
        self._admission.tokens -= tokens

    def close(self) -> None:
        self._admission.requests -= self._requests
        self._admission.tokens -= self._tokens
        self._requests = self._tokens = 0


class Admission:
    """`max_requests` counts running and waiting ones; `max_tokens` None = no limit."""

    def __init__(self, max_requests: int, max_tokens: int | None) -> None:
        self.max_requests = max_requests
        self.max_tokens = max_tokens
        self.requests = 0
        self.tokens = 0
        self.rejections: dict[Reason, int] = {"max_num_queued_reqs": 0, "max_num_queued_tokens": 0}

    @contextmanager
    def enter(self, requests: int, tokens: int) -> Iterator[Ticket]:
        """Holds `requests` places and `tokens` prompt tokens; raises ApiError 503 when the queue is full."""
        if requests > self.max_requests:
            raise bad_request(f"this asks for {requests} sequences at once, the queue holds {self.max_requests}")
        if self.requests + requests > self.max_requests:
            self.rejections["max_num_queued_reqs"] += 1
            raise unavailable(f"the queue is full: {self.requests} of {self.max_requests} requests are unfinished")
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            self.rejections["max_num_queued_tokens"] += 1
            raise unavailable(f"the queue is full: {self.tokens} prompt tokens wait, the limit is {self.max_tokens}")
        self.requests += requests
        self.tokens += tokens
        ticket = Ticket(self, requests, tokens)
        try:
            yield ticket
        finally:
            ticket.close()
