"""Which release a deployment was written for: given, named by the file or its neighbours, or told from its options."""

from appliance.migrations.canonical import Deployment
from appliance.migrations.infer import earliest_release, infer_release
from appliance.migrations.release import Release

from .finding import Origin
from .source import Lines


def origin_of(deployment: Deployment, given: Release | None, lines: Lines, target: Release) -> Origin:
    """A release after `target` is told from the options only where they leave no other."""
    if given is not None:
        return Origin(given, "as you said")
    hint = deployment.release
    if hint is not None and hint.release is not None:
        where = f" in line {lines.at(hint.span.start)[0]}" if hint.span.end else f" in {hint.source}"
        kind = hint.source if hint.span.end else "the pin"
        return Origin(hint.release, f"{kind} {hint.text}{where}")
    inferred = infer_release(deployment.sites, target)
    if inferred is not None:
        return Origin(inferred, "the newest release that knows these options")
    earliest = earliest_release(deployment.sites)
    if earliest is not None:
        return Origin(earliest[0], f"or later: {earliest[1]} came with it")
    return Origin(None, "no release is named; say --from if you know it")
