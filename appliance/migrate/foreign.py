"""`appliance validate` for files of other programs: the findings of a migration, as diagnostics, and nothing edited."""

from appliance.diagnostics import Diagnostic, Position, Severity
from appliance.migrations.change import Part
from appliance.migrations.dialects import detect
from appliance.migrations.pages import pages
from appliance.migrations.release import Release
from appliance.profile import Document
from appliance.profile.recognise import is_profile
from appliance.validate import ValidationResult

from .finding import Finding, Result
from .road import Wanted, migrate_source
from .source import UnreadableError, read


def validate_foreign(path: str, target: Release, dialect: str | None = None) -> ValidationResult | None:
    """None where the file is a profile, or no dialect knows it: the profile's road then says what is wrong."""
    try:
        source = read(path)
    except UnreadableError:
        return None
    if dialect is None and is_profile(source.text):
        return None
    result = migrate_source(source, Wanted(target, dialect=dialect, comments=False))
    if result.dialect is None:
        return None
    return ValidationResult(Document(path, "", None), None, tuple(sorted(_diagnostics(result), key=_order)))


def is_known(path: str) -> bool:
    """Whether the file is a profile or of a kind that holds engine options; one that cannot be read counts too."""
    try:
        source = read(path)
    except UnreadableError as error:
        return "cannot be read" in error.fact
    return is_profile(source.text) or detect(path, source.text) is not None


def _diagnostics(result: Result) -> list[Diagnostic]:
    if result.problem is not None:
        return [result.problem]
    told = [finding for outcome in result.outcomes for finding in outcome.findings if _told(finding)]
    return list(dict.fromkeys(_diagnostic(result.path, finding) for finding in told))


def _told(finding: Finding) -> bool:
    """Changes of defaults are told by `migrate`; here only what is about a place in the text or has to be decided."""
    return finding.change.part is not Part.BEHAVIOUR or finding.line > 0


def _diagnostic(path: str, finding: Finding) -> Diagnostic:
    change = finding.change
    fix = change.way_out
    if not fix and change.code in pages():
        fix = pages()[change.code].way_out
    position = Position(path, finding.line, finding.column) if finding.line else Position(path)
    return Diagnostic(change.code, change.severity, position, "", change.message, fix)


def _order(found: Diagnostic) -> tuple[Position, int]:
    return found.position, list(Severity).index(found.severity)
