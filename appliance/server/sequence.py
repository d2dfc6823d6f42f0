"""One engine request and what of it has reached its caller, through however many engines it takes."""

from dataclasses import dataclass, field

import msgspec

from appliance.engine.protocol import Request, Update
from appliance.engine.streams import UpdateStream
from appliance.server.pool import Replica
from appliance.server.timing import Timing


@dataclass(eq=False)
class Sequence:
    request: Request
    timing: Timing
    generated: list[int] = field(default_factory=list)
    """Tokens the caller has."""
    replica: Replica | None = None
    """Where it runs; None between two engines."""
    stream: UpdateStream | None = None
    over: bool = False
    moved: bool = False
    """Tokens came from another engine than the present one."""
    _computed: bool = True
    """The prompt, on the present replica."""

    def enter(self, replica: Replica, stream: UpdateStream) -> None:
        self.replica, self.stream = replica, stream
        self.moved = bool(self.generated)
        replica.unfinished.add(self.request.request_id)
        replica.tokens += self.timing.prompt_tokens
        self._computed = False

    def note(self, update: Update) -> Update:
        """As the caller is to see it: what is told with a request's first token is told once."""
        if update.token_ids:
            self._prefilled()
        if self.moved:
            update = msgspec.structs.replace(update, cached_tokens=0, prompt_logprobs=None)
        self.generated += update.token_ids
        if update.finish_reason is not None:
            self.leave()
            self.over = True
        return update

    def continued(self, max_context: int) -> Request:
        """What another engine is asked for, whose context may be shorter."""
        sampling = self.request.sampling
        room = max_context - len(self.request.prompt)
        sampling = msgspec.structs.replace(sampling, max_tokens=min(sampling.max_tokens, room))
        if self.generated:
            sampling = msgspec.structs.replace(sampling, prompt_logprobs=None)
        return msgspec.structs.replace(self.request, sampling=sampling, generated=list(self.generated))

    @property
    def on_engine(self) -> bool:
        """Its last update has not come yet."""
        return self.stream is not None and self.request.request_id in self.stream.unfinished

    def leave(self) -> None:
        """The engine it is on has no more to do with it."""
        if self.stream is not None:
            self.stream.close()
        if self.replica is not None:
            self.replica.unfinished.discard(self.request.request_id)
            self._prefilled()
        self.replica = self.stream = None

    def end(self, reason: str) -> None:
        self.over = True
        self.leave()
        self.timing.end(reason)

    def _prefilled(self) -> None:
        if self.replica is not None and not self._computed:
            self._computed = True
            self.replica.tokens -= self.timing.prompt_tokens
