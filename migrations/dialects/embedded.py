"""Files that a script writes from a here-document: units, Dockerfiles, YAML, read by the dialects they belong to."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from appliance.migrations import dialects
from appliance.migrations.canonical import Deployment, Edit, OptionSite, ReleaseHint, Span
from appliance.migrations.dialects.bash_tree import Heredoc, Script
from appliance.migrations.dialects.layers import Inlay, Layer, part
from appliance.migrations.dialects.yaml_dialect import ENGINE
from appliance.migrations.operations import Add, CannotEditError, Operation

# what a command like `kubectl apply -f -` reads
_STDIN = "stdin.yaml"
_FILE = re.compile(r"([\w.-]*(?:\.ya?ml|\.service|\.env|\.mk|[Dd]ockerfile|[Mm]akefile|\.py|\.nix))(?=[\s'\";|&]|\Z)")
_READ = re.compile(r"\s(?:-f|--filename|--values)[ =]*(?:-|/dev/stdin)(?=[\s|;&]|\Z)")


@dataclass(frozen=True, slots=True)
class Embedded:
    """A deployment of a text inside the script, moved to where it stands there."""

    dialect: dialects.Dialect
    text: str
    shift: int
    deployment: Deployment


def embedded(text: str, script: Script) -> Iterator[Deployment]:
    for heredoc in script.heredocs:
        name = _target(text, heredoc)
        body = text[heredoc.start : heredoc.end]
        if not name or not ENGINE.search(body) or (not heredoc.literal and re.search(r"\\", body)):
            continue
        dialect = dialects.detect(name, body)
        if dialect is None or dialect.name == "shell":
            continue
        try:
            found = dialect.read("", body)
        except dialects.DialectError as refused:
            raise dialects.DialectError(refused.offset + heredoc.start, refused.fact, refused.way_out) from None
        for deployment in found:
            yield _moved(Embedded(dialect, body, heredoc.start, deployment))


def body(layer: Layer, heredoc: Heredoc) -> Layer:
    """What a command reads from the here-document; the shell takes some backslashes out, unless its mark is quoted."""
    start, end = heredoc.start, heredoc.end
    if heredoc.literal:
        return part(layer, start, end)
    text = layer.text
    chars, begins, ends = [], [], []
    at = start
    while at < end:
        step = 2 if text[at] == "\\" and text[at + 1 : at + 2] in ("\\", "$", "`") and at + 2 <= end else 1
        chars.append(text[at + step - 1])
        begins.append(at)
        ends.append(at + step)
        at += step

    def escape(new: str, first: int, last: int) -> str:
        return re.sub(r"([\\`])", r"\\\1", new)

    return Inlay(layer, "".join(chars), begins, ends, start, escape)


def edit_embedded(outer: Deployment, operations: Sequence[Operation]) -> list[Edit]:
    held: Embedded = outer.handle
    inner = dict(zip(map(id, outer.sites), held.deployment.sites, strict=True))
    asked = [_with(operation, inner) for operation in operations]
    try:
        edits = held.dialect.edit(held.text, held.deployment, asked)
    except CannotEditError as refused:
        place = next(index for index, operation in enumerate(asked) if operation is refused.operation)
        raise CannotEditError(operations[place], refused.reason) from None
    return [Edit(_shifted(edit.span, held.shift), edit.replacement) for edit in edits]


def _with(operation: Operation, inner: dict[int, OptionSite]) -> Operation:
    if isinstance(operation, Add):
        return replace(operation, after=inner[id(operation.after)]) if operation.after else operation
    return replace(operation, site=inner[id(operation.site)])


def _target(text: str, heredoc: Heredoc) -> str:
    line = text[text.rfind("\n", 0, heredoc.start - 1) + 1 : heredoc.start]
    found = _FILE.search(line)
    return found[1] if found else _STDIN if _READ.search(line) else ""


def _moved(held: Embedded) -> Deployment:
    deployment, shift = held.deployment, held.shift
    sites = tuple(
        replace(
            site,
            name_span=_shifted(site.name_span, shift),
            element=_shifted(site.element, shift),
            value_span=_shifted(site.value_span, shift) if site.value_span else None,
        )
        for site in deployment.sites
    )
    release, python = (_hint(hint, shift) for hint in (deployment.release, deployment.python))
    return replace(deployment, sites=sites, release=release, python=python, handle=held)


def _hint(hint: ReleaseHint | None, shift: int) -> ReleaseHint | None:
    return replace(hint, span=_shifted(hint.span, shift)) if hint else None


def _shifted(span: Span, shift: int) -> Span:
    return Span(span.start + shift, span.end + shift)
