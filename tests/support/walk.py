"""A walk through edits of a running appliance: what each writes, what must become of it, and what is in force then."""

import random
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

PROFILE = """\
schema: 1
name: walk
release: "0.32"
model: {{source: {model}, served_names: [{names}], max_context: {context}}}
kv_cache: {{size: {pool}, block_tokens: {block}}}
engine: {{batching: {{max_sequences: {sequences}, max_tokens: {batch}}}}}
endpoints: {{systemone: {systemone}}}
limits: {{body: {body}, queue: {{requests: {queue}}}, max_tokens: {{default: {tokens}, overflow: {overflow}}}}}
security: {{bind: "127.0.0.1:{port}", cors: {{origins: [{origin}]}}}}
reload: {{drain: 60s, watch: {watch}, strategy: {strategy}}}
observability: {{log_level: {level}, access_log: false}}
# edit {number}
{more}
"""


@dataclass(frozen=True)
class Settings:
    """What a profile of the walk says."""

    model: Path
    port: int
    names: str = "bench"
    context: int = 256
    pool: str = "8MiB"
    block: int = 16
    sequences: int = 8
    batch: int = 256
    systemone: str = "on"
    body: int = 65536
    queue: int = 64
    tokens: int = 3
    overflow: str = "shrink"
    origin: str = "https://one.example"
    watch: str = "false"
    strategy: str = "auto"
    level: str = "info"
    number: int = 0
    more: str = ""

    @property
    def text(self) -> str:
        return PROFILE.format(**{name: getattr(self, name) for name in self.__dataclass_fields__})

    @property
    def effective(self) -> "Settings":
        """Equal for two texts of one plan."""
        return replace(self, number=0)


@dataclass(frozen=True)
class Models:
    """Checkpoints the walk goes between: two that run, one that validates and cannot boot."""

    usual: Path
    other: Path
    broken: Path


@dataclass(frozen=True)
class Edit:
    name: str
    settings: Settings
    result: str
    """Of its Outcome."""
    said: str = ""
    """Expression that its errors match."""


@dataclass
class Walk:
    """The same seed takes the same walk, but for its port numbers."""

    seed: int
    models: Models
    taken: int
    """A port that somebody else listens on."""
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def edit(self, now: Settings, number: int) -> Edit:
        """The next one, of what runs now."""
        kinds = [kind for kind, weight in KINDS.items() for _ in range(weight)]
        return self.make(self.chance.choice(kinds), now, number)

    def make(self, kind: str, now: Settings, number: int) -> Edit:
        return MAKERS[kind](self, replace(now, number=number))

    def other(self, *values: object, than: object) -> object:
        return self.chance.choice([value for value in values if value != than])


def _live(walk: Walk, now: Settings) -> Edit:
    changes: dict[str, tuple[object, ...]] = {
        "names": ("bench", "bench, second", "bench, third"),
        "body": (65536, 16384, 32768),
        "queue": (64, 32, 48),
        "tokens": (3, 4, 5),
        "overflow": ("shrink", "reject"),
        "origin": ("https://one.example", "https://two.example", ""),
        "level": ("info", "debug", "warning"),
        "systemone": ("on", "off"),
        "watch": ("true", "false"),
    }
    some = walk.chance.sample(sorted(changes), walk.chance.choice([1, 1, 2, 4]))
    new = {name: walk.other(*changes[name], than=getattr(now, name)) for name in some}
    return Edit("live", replace(now, **new), "applied")


def _reconfigure(walk: Walk, now: Settings) -> Edit:
    changes: dict[str, tuple[object, ...]] = {
        "sequences": (4, 6, 8, 16),
        "batch": (64, 128, 256),
        "context": (192, 224, 256),
    }
    some = walk.chance.sample(sorted(changes), walk.chance.choice([1, 2]))
    new = {name: walk.other(*changes[name], than=getattr(now, name)) for name in some}
    return Edit("reconfigure", replace(now, **new), "applied")


def _engine(walk: Walk, now: Settings) -> Edit:
    changes: dict[str, tuple[object, ...]] = {"pool": ("8MiB", "6MiB", "10MiB"), "block": (8, 16, 32)}
    name = walk.chance.choice(sorted(changes))
    new = {name: walk.other(*changes[name], than=getattr(now, name)), **_limits(walk, now)}
    return Edit("engine", replace(now, strategy=walk.chance.choice(["surge", "drain"]), **new), "applied")


def _model(walk: Walk, now: Settings) -> Edit:
    model = walk.other(walk.models.usual, walk.models.other, than=now.model)
    return Edit("model", replace(now, model=model, strategy=walk.chance.choice(["surge", "drain"])), "applied")


def _remark(walk: Walk, now: Settings) -> Edit:
    return Edit("remark", now, "unchanged")


def _invalid(walk: Walk, now: Settings) -> Edit:
    more, said = walk.chance.choice(
        [
            ("limts: {}", r"AP01\d\d .*limts"),
            ("limits: [", r"AP00\d\d|AP01\d\d"),
            ("parsers: {tool: 7}", r"AP01\d\d .*parsers\.tool"),
        ]
    )
    return Edit("invalid", replace(now, more=more), "invalid", said)


def _unbootable(walk: Walk, now: Settings) -> Edit:
    strategy = walk.chance.choice(["surge", "drain"])
    broken = replace(now, model=walk.models.broken, strategy=strategy, **_limits(walk, now))
    return Edit("unbootable", broken, "failed", r"AP0609")


def _port(walk: Walk, now: Settings) -> Edit:
    return Edit("port", replace(now, port=free_port(), **_limits(walk, now)), "applied")


def _taken(walk: Walk, now: Settings) -> Edit:
    changes = {**_limits(walk, now), "port": walk.taken}
    return Edit("taken", replace(now, **changes), "rejected", r"AP0601 .*in use")


def _limits(walk: Walk, now: Settings) -> dict[str, object]:
    """Live changes that ride along, and have to stay out where the rest does."""
    return {"tokens": walk.other(3, 4, 5, than=now.tokens)} if walk.chance.random() < 0.5 else {}


MAKERS: dict[str, Callable[[Walk, Settings], Edit]] = {
    "live": _live,
    "reconfigure": _reconfigure,
    "engine": _engine,
    "model": _model,
    "remark": _remark,
    "invalid": _invalid,
    "unbootable": _unbootable,
    "port": _port,
    "taken": _taken,
}
KINDS = {
    "live": 6,
    "reconfigure": 3,
    "engine": 4,
    "model": 2,
    "remark": 1,
    "invalid": 2,
    "unbootable": 2,
    "port": 2,
    "taken": 1,
}
"""How often each comes up."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
