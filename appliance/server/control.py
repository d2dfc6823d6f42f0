"""What the supervisor tells a running API server, and what that answers: one JSON object per line on its pipes.

The first line a server reads is its ServerConfig; every later one is a Command, and its Answer carries its `reference`.
A *state* of the server is everything built from one ServerConfig: routes, keys, limits, tokenizer, engines.
"""

import msgspec

from appliance.server.config import ReloadFacts, ServerConfig


class Prepare(msgspec.Struct, frozen=True, tag="prepare", kw_only=True):
    """Build a state beside the current one, connect to its engines and let it prove itself. One candidate at a time.

    Its engines, retired no longer, have to be up, of one weight fingerprint, with room for its context. With `probe`,
    too: real requests through the candidate's own routes, on every replica (a chat token, a decision where it is on).
    Answered within `seconds`; an error leaves no candidate behind.
    """

    reference: int
    config: ServerConfig
    probe: bool = True
    seconds: float = 60.0


class Switch(msgspec.Struct, frozen=True, tag="switch", kw_only=True):
    """The candidate takes every request from now on, those held among them: a Hold ends here.

    Requests in flight keep their state.
    """

    reference: int


class Discard(msgspec.Struct, frozen=True, tag="discard", kw_only=True):
    """Forget the candidate; a Prepare that still runs is answered with an error."""

    reference: int


class Hold(msgspec.Struct, frozen=True, tag="hold", kw_only=True):
    """New work waits, at most `requests` of it (all servers together) and `seconds` each; the rest gets 503.

    Told again while it holds: other numbers for what comes from now on. /ready and /health keep saying yes meanwhile,
    /ready until the first request can have waited too long.
    """

    reference: int
    requests: int
    seconds: float


class Standby(msgspec.Struct, frozen=True, tag="standby", kw_only=True):
    """The state that is switched to next may not last. Until a Release, while none of the current state's engines is
    up, new work waits as under a Hold, and what has no byte of an answer yet joins it; with `carry`, what these engines
    were answering goes on with those that serve next.
    """

    reference: int
    requests: int
    seconds: float
    carry: bool


class Release(msgspec.Struct, frozen=True, tag="release", kw_only=True):
    """Held work goes to the current state, whose addresses are no longer retired; a Standby ends."""

    reference: int


class Retire(msgspec.Struct, frozen=True, tag="retire", kw_only=True):
    """Engines that end. Their requests have `seconds` to finish; answered when none is left: the engines may die then.

    Then, with `carry`, each goes on where the current state's engines serve (while held: as soon as a Switch or a
    Release lets it), by recompute and without a gap in its stream. Without `carry` it is cut.
    """

    reference: int
    addresses: tuple[str, ...]
    seconds: float
    carry: bool


class Leave(msgspec.Struct, frozen=True, tag="leave", kw_only=True):
    """Other servers take what comes: accept nothing more, answer what is here within `seconds`, then exit with code 0.

    Idle connections are closed, every other one after the answer that runs on it.
    """

    reference: int
    seconds: float


class Tell(msgspec.Struct, frozen=True, tag="tell", kw_only=True):
    """New facts for the metrics; the state stays."""

    reference: int
    reload: ReloadFacts


Command = Prepare | Switch | Discard | Hold | Standby | Release | Retire | Leave | Tell


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """`error` None = done. `proof` after Prepare: what was tried, what came out, in how many seconds."""

    reference: int
    error: str | None = None
    proof: dict[str, str | float | int | bool] = {}
    finished: int = 0
    carried: int = 0
    cut: int = 0
    """After Retire: how its requests ended."""


COMMANDS = msgspec.json.Decoder(Command)
ANSWERS = msgspec.json.Decoder(Answer)
ENCODER = msgspec.json.Encoder()
