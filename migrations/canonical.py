"""What every dialect reads a file into: option sites with exact text positions, grouped by the process they go to."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from itertools import pairwise
from typing import Any, TypeAlias

from appliance.migrations.release import Release


class Unknown(Enum):
    """The value cannot be known from the text: `{{ }}`, `$(VAR)`, `${VAR}`, `$(command)`."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown.UNKNOWN
Plain: TypeAlias = bool | int | float | str | list["Plain"] | dict[str, "Plain"] | None
Value: TypeAlias = Plain | Unknown
Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open character offsets into the file's text as decoded, line endings included."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"no such span: {self.start}..{self.end}")


class Form(StrEnum):
    """How the option is written."""

    FLAG = "flag"  # --max-model-len 4096, or a switch without a value
    EQUALS = "equals"  # --max-model-len=4096
    NEGATION = "negation"  # --no-enable-prefix-caching
    SHORT = "short"  # -tp 4, -O3, -cc.mode=3
    POSITIONAL = "positional"  # the model after `vllm serve`
    YAML_KEY = "yaml"  # max-model-len: 4096
    JSON_KEY = "json"  # "max_model_len": 4096
    KEYWORD = "keyword"  # max_model_len=4096 in Python
    ENV = "env"  # an environment variable, in any syntax


class Quirk(StrEnum):
    """A spelling that the engine misreads although the meaning is plain; rewriting the site in place cures it."""

    JOINED = "joined"  # option and value in one argv item: "--dtype auto"
    BOOLEAN_ARGUMENT = "boolean-argument"  # --enable-x=false, --enable-x False
    FALSE_DROPPED = "false-dropped"  # YAML `enable-x: false`, which the engine's own loader drops
    QUOTED_BOOLEAN = "quoted-boolean"  # YAML `trust-remote-code: "true"`, which the loader makes the model's name
    NULL = "null"  # YAML `revision: null`, passed on as the text "None"
    YAML_LIST = "yaml-list"  # a YAML list where the option takes one JSON text
    NOT_INTERPOLATED = "not-interpolated"  # ${VAR} in a file that nothing interpolates
    DUPLICATE = "duplicate"  # the same key again; the last one wins
    SERVE_WORD = "serve-word"  # `serve` handed to an entrypoint that already serves


class Kind(StrEnum):
    OPTION = "option"
    ENV = "env"


@dataclass(frozen=True, slots=True)
class OptionSite:
    """One place that sets one option or environment variable.

    name: canonical, e.g. `max-model-len` (dashes, no leading ones, positive form) or `VLLM_USE_V1`.
    path: keys below a nested option, written dotted: `--compilation-config.mode 3` is name `compilation-config`,
        path `("mode",)`. One JSON text, YAML mapping or dict has an empty path and a dict as its value.
    raw_name, raw_value: as written, quotes not included. raw_value is None for a switch.
    value: parsed by the option's type; UNKNOWN when templated. `--no-x` and `x: false` both give False.
    name_span, value_span: of raw_name and raw_value inside the text; value_span is None for a switch.
    element: what disappears when the site is removed, with the separator that belongs to it, and with a comment only
        when that comment stands on the site's own line.
    handle: the dialect's own note about the site; nobody else looks at it.
    source: `file:line` of the other file that the setting stands in, empty for this one. Spans then say where that file
        is named, and no edit can be made.
    """

    name: str
    value: Value
    form: Form
    name_span: Span
    element: Span
    kind: Kind = Kind.OPTION
    path: Path = ()
    raw_name: str = ""
    raw_value: str | None = None
    value_span: Span | None = None
    quirk: Quirk | None = None
    handle: Any = field(default=None, compare=False, repr=False)
    source: str = ""

    @property
    def known(self) -> bool:
        return self.value is not UNKNOWN


@dataclass(frozen=True, slots=True)
class ReleaseHint:
    """The engine release a file names, and where: an image tag, a pin in a requirements line, a `release:` key."""

    text: str
    release: Release | None
    span: Span
    source: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Variables that a deployment takes from another file or object.

    kind: `env_file`, `ConfigMap` ... name: as written. read: whether they were found and are among the sites.
    file: the name is that of a file.
    """

    kind: str
    name: str
    span: Span
    read: bool
    file: bool = True


class Entrypoint(StrEnum):
    SERVE = "vllm serve"
    API_SERVER = "python -m vllm.entrypoints.openai.api_server"
    DYNAMO = "python -m dynamo.vllm"  # a worker behind a server of its own
    IMAGE = "image"  # arguments go to whatever entrypoint the image has
    CONFIG = "config file"
    PYTHON = "python"
    PLATFORM = "platform"  # a chart or operator renders the command line
    PROFILE = "profile"

    @property
    def takes_word(self) -> bool:
        """Whether a word that is no option names the model."""
        return self not in (Entrypoint.API_SERVER, Entrypoint.DYNAMO)


@dataclass(frozen=True, slots=True)
class Deployment:
    """The sites that end up in one engine process.

    label: what a person calls it: the container, service, make target or recipe name.
    model: the model's name where it can be known.
    release, python: what the file says about versions.
    editable: False where the dialect can read but not write safely (Nix, Python expressions): report only.
    takes_options, takes_env: whether the dialect can add a new option or variable to it.
    elsewhere: where more of its variables stand, in the order in which they count.
    """

    sites: tuple[OptionSite, ...]
    entrypoint: Entrypoint
    label: str = ""
    model: str | None = None
    release: ReleaseHint | None = None
    python: ReleaseHint | None = None
    editable: bool = True
    takes_options: bool = True
    takes_env: bool = True
    handle: Any = field(default=None, compare=False, repr=False)
    elsewhere: tuple[Elsewhere, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replaces the text of a span; an empty span inserts."""

    span: Span
    replacement: str


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order, those that overlap or touch made one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


class OverlapError(ValueError):
    """Two edits claim the same characters."""


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made; insertions at one place keep their order. What two take out, such as the blank
    between two words, is taken out once."""
    ordered = _joined(sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)))
    for left, right in pairwise(ordered):
        if left.span.end > right.span.start:
            raise OverlapError(f"{left.span} and {right.span} overlap")
    if ordered and ordered[-1].span.end > len(text):
        raise ValueError(f"{ordered[-1].span} lies outside the text of {len(text)} characters")
    parts = []
    reached = 0
    for edit in ordered:
        parts += [text[reached : edit.span.start], edit.replacement]
        reached = edit.span.end
    return "".join([*parts, text[reached:]])


def _joined(ordered: Iterable[Edit]) -> list[Edit]:
    """With cuts that overlap made one."""
    found: list[Edit] = []
    for edit in ordered:
        last = found[-1] if found else None
        if last and not last.replacement and not edit.replacement and last.span.end > edit.span.start:
            found[-1] = Edit(Span(last.span.start, max(last.span.end, edit.span.end)), "")
        else:
            found.append(edit)
    return found
