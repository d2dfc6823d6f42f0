"""The one road of a file of any dialect: bytes -> text -> deployments -> findings -> new text."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from appliance.migrations.canonical import Deployment, Edit, Entrypoint, OverlapError, apply_edits
from appliance.migrations.change import Change
from appliance.migrations.dialects import DIALECTS, Dialect, DialectError, detect, load
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import Release
from appliance.profile.recognise import is_profile

from .carry import carry_out_all, here, undone
from .find import Found
from .finding import Finding, Origin, Outcome, Result, refused
from .origin import origin_of
from .remarks import REMARKS, Scene, advised, concerns, unread
from .remarks.image import takes_model_word
from .source import Lines, Source, UnreadableError, read

NAME = "profile"
# Texts up to this length are read once more after the edits; longer ones cost seconds.
_READ_AGAIN = 2**20
SHARED = "another part of this file shares these characters; change it by hand"


@dataclass(frozen=True)
class Wanted:
    """start: None = read it from the file. dialect: None = detect it. comments: mark decisions at the spot."""

    target: Release
    start: Release | None = None
    dialect: str | None = None
    comments: bool = True


def migrate_file(found: Found, wanted: Wanted) -> Result:
    """Never raises for what the file holds."""
    try:
        source = read(found.path)
    except UnreadableError as error:
        return Result(found.path, problem=refused(found.path, "VM0101", error.fact, error.fix), named=found.named)
    with _uncollected(len(source.text) > _READ_AGAIN):
        return replace(migrate_source(source, wanted), named=found.named)


@contextmanager
def _uncollected(large: bool) -> Iterator[None]:
    """Large files make millions of objects that all stay: looking for garbage among them takes most of the time."""
    collecting = large and gc.isenabled()
    if collecting:
        gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def migrate_source(source: Source, wanted: Wanted) -> Result:
    path, text = source.path, source.text
    blank = Result(path, source, None, text)
    if not text.strip("\ufeff \t\r\n"):
        return replace(blank, note="is empty")
    lines = Lines(text)
    dialect = _dialect(path, text, wanted.dialect)
    if dialect is None:
        left = _left(text, lines, wanted.target)
        return replace(
            blank, note=f"holds no engine options that any dialect knows; --dialect NAME says what it is{left}"
        )
    try:
        deployments = dialect.read(path, text)
    except DialectError as error:
        problem = refused(path, "VM0102", error.fact, error.way_out, *lines.at(error.offset))
        return replace(blank, dialect=dialect.name, problem=problem)
    if not deployments:
        note = f"holds no engine options ({dialect.name}){_left(text, lines, wanted.target)}"
        return replace(blank, dialect=dialect.name, note=note)
    planned = [_planned(dialect.name, deployment, wanted, lines) for deployment in deployments]
    edits, planned = _edited(dialect, text, deployments, planned)
    origins = [origin_of(deployment, wanted.start, lines, wanted.target) for deployment in deployments]
    starts = tuple(origin.release for origin in origins)
    scene = Scene(path, dialect.name, text, lines, tuple(deployments), starts, wanted.target)
    outcomes = [_outcome(scene, index, changes, origins[index]) for index, changes in enumerate(planned)]
    note = f"read as {source.encoding}" if source.encoding == "latin-1" else ""
    result = Result(path, source, dialect.name, text, tuple(outcomes), note=note, lines=lines)
    try:
        return replace(result, new_text=_proved(dialect, path, text, edits, source.encoding))
    except UnwritableError as error:
        return replace(result, problem=refused(path, "VM0107", str(error), "report this file, and edit it by hand"))


def _left(text: str, lines: Lines, target: Release) -> str:
    """What speaks against a text without options."""
    found = [f"--{name} in line {lines.at(at)[0]}" for at, name in islice(unread(text, target), 3)]
    return f", but says {', '.join(found)}: look at it yourself" if found else ""


def dialects() -> tuple[str, ...]:
    """Every name that `--dialect` takes."""
    return (*DIALECTS, NAME)


def _dialect(path: str, text: str, name: str | None) -> Dialect | None:
    if name == NAME or (name is None and is_profile(text)):
        from .profile_dialect import dialect

        return dialect
    return load(name) if name else detect(path, text)


class UnwritableError(Exception):
    """The new text cannot stand in the file."""


def _planned(dialect: str, deployment: Deployment, wanted: Wanted, lines: Lines) -> list[Change]:
    start = origin_of(deployment, wanted.start, lines, wanted.target).release
    first = takes_model_word(deployment, dialect, wanted.target)
    changes = plan_changes(deployment.sites, start, wanted.target, deployment.model, wanted.comments, first)
    if deployment.entrypoint is Entrypoint.PROFILE:
        from .profile_dialect import adapted

        changes = adapted(changes, deployment, wanted.target)
    told = (change for change in changes if concerns(change, deployment, wanted.target, dialect))
    return [advised(here(change), dialect) for change in told if not _own(change, dialect)]


def _own(change: Change, dialect: str) -> bool:
    """A name of the file's own, as VLLM_IMAGE in a .env that compose reads, rather than a misspelt one."""
    return dialect == "dotenv" and change.code == "VM0009" and not change.way_out


def _edited(
    dialect: Dialect, text: str, deployments: Sequence[Deployment], planned: Sequence[list[Change]]
) -> tuple[list[Edit], list[list[Change]]]:
    """Deployments that share characters do so by an anchor or a variable; the first one's edits count."""
    done = carry_out_all(dialect, text, deployments, planned)
    edits = list(dict.fromkeys(edit for made, _ in done for edit in made))
    if not _overlapping(edits):
        return edits, [changes for _, changes in done]
    kept: dict[Edit, None] = {}
    changes = []
    for made, mine in done:
        clash = _overlapping([*kept, *(edit for edit in made if edit not in kept)])
        changes.append(undone(mine, SHARED) if clash else mine)
        kept |= {} if clash else dict.fromkeys(made)
    return list(kept), changes


def _overlapping(edits: Sequence[Edit]) -> bool:
    ordered = sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))
    return any(left.span.end > right.span.start for left, right in pairwise(ordered))


def _proved(dialect: Dialect, path: str, text: str, edits: Sequence[Edit], encoding: str) -> str:
    """The new text, after the dialect has read it once more. Raises UnwritableError."""
    if not edits:
        return text
    try:
        new = apply_edits(text, edits)
        new.encode(encoding)
        if len(new) < _READ_AGAIN:
            dialect.read(path, new)
    except (OverlapError, UnicodeEncodeError, DialectError) as error:
        raise UnwritableError(f"the new text would not be readable: {error}") from None
    return new


def _outcome(scene: Scene, index: int, changes: list[Change], origin: Origin) -> Outcome:
    findings = [_placed(change, scene.lines) for change in changes]
    for remarks in REMARKS:
        findings += remarks(scene, index)
    return Outcome(scene.deployments[index], origin, tuple(findings))


def _placed(change: Change, lines: Lines) -> Finding:
    if change.site is None:
        return Finding(change)
    return Finding(change, *lines.at(change.site.name_span.start))
