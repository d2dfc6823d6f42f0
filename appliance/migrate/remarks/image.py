"""What only the file as a whole tells: images of other releases, Python versions, memory that is claimed twice."""

from collections.abc import Iterator, Sequence
from re import findall

from appliance.diagnostics import Severity
from appliance.migrations.canonical import Deployment, Entrypoint, Kind
from appliance.migrations.catalogue import catalogue
from appliance.migrations.change import Change, Part
from appliance.migrations.release import Release
from appliance.migrations.releases import RULES
from appliance.migrations.rule import Nature, Room, Target

from .finding import Finding
from .source import Lines

_IN_IMAGES = (Entrypoint.IMAGE, Entrypoint.PLATFORM, Entrypoint.PROFILE)
_ONE_HOST = ("shell", "compose", "systemd", "makefile")


def image_remarks(deployment: Deployment, target: Release, lines: Lines) -> Iterator[Finding]:
    """The file's image or pin against the release that the text is now written for."""
    hint = deployment.release
    if hint is None or deployment.entrypoint is Entrypoint.PROFILE:
        return
    book = catalogue()
    line, column = lines.at(hint.span.start) if hint.span.end else (0, 0)
    subject = f"{hint.source} {hint.text}"
    if hint.release is None:
        fact = f"{subject}: names no release, so the next start may be of another one"
        yield _remark("VM0105", Severity.NOTE, subject, fact, f"pin {target}", line, column)
    elif book.index(hint.release) != book.index(target):
        fact = f"{subject}: is {hint.release.short}, and the options are now those of {target.short}"
        yield _remark("VM0104", Severity.WARNING, subject, fact, f"set it to {target} together with them", line, column)


def later_remarks(deployment: Deployment, start: Release | None, target: Release, lines: Lines) -> Iterator[Finding]:
    """Values that something fills in later, of options whose values changed on the way: nobody here can know them."""
    for site in deployment.sites:
        if site.known:
            continue
        room = Room.ENV if site.kind is Kind.ENV else Room.OPTION
        codes = [
            rule.code
            for rule in RULES
            if rule.target == Target(room, site.name, site.path)
            and rule.match is not None
            and (start is None or start < rule.since)
            and rule.since <= target
        ]
        if codes:
            subject = str(Target(room, site.name, site.path))
            fact = f"{subject} {site.raw_value}: is filled in later, and some of its values changed"
            way_out = f"compare it with {', '.join(codes)}"
            yield _remark("VM0110", Severity.NOTE, subject, fact, way_out, *lines.at(site.name_span.start))


def _remark(
    code: str, severity: Severity, subject: str, fact: str, way_out: str, line: int = 0, column: int = 0
) -> Finding:
    return Finding(Change(Part.DECISION, code, severity, subject, fact, way_out), line, column)


def concerns(change: Change, deployment: Deployment, target: Release) -> bool:
    """Whether a platform requirement touches the deployment: images bring their own Python."""
    if change.rule is None or change.rule.nature is not Nature.PLATFORM or "ython" not in change.subject:
        return True
    if deployment.python is None or deployment.python.release is None:
        return deployment.entrypoint not in _IN_IMAGES
    least = findall(r">=\s*(\d+)\.(\d+)", catalogue().python(target))
    return bool(least) and deployment.python.release[:2] < tuple(map(int, least[0]))


def memory_remark(dialect: str, deployments: Sequence[Deployment], index: int, target: Release) -> Finding | None:
    """Servers beside each other on the same devices, whose shares of the memory add up to more than there is."""
    if dialect not in _ONE_HOST or index != len(deployments) - 1 or index == 0:
        return None
    devices = {_text(one, "CUDA_VISIBLE_DEVICES") for one in deployments}
    if len(devices) > 1:
        return None
    shares = [_fraction(one, target) for one in deployments]
    if sum(shares) <= 1:
        return None
    listed = " + ".join(f"{share:g}" for share in shares)
    subject = "--gpu-memory-utilization"
    fact = f"{subject}: {len(shares)} servers ask for {listed} of the memory; on one device only the first would start"
    return _remark("VM0106", Severity.WARNING, subject, fact, "give each its share, or its own devices")


def _fraction(deployment: Deployment, target: Release) -> float:
    values = [site.value for site in deployment.sites if site.name == "gpu-memory-utilization"]
    known = [float(value) for value in values if isinstance(value, int | float)]
    book = catalogue()
    return known[-1] if known else float(book.options["gpu-memory-utilization"].nearest(book.index(target)).default)


def _text(deployment: Deployment, name: str) -> str:
    return next((site.raw_value or "" for site in deployment.sites if site.name == name), "")
