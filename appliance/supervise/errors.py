"""Known failures of running: one diagnostic, exit code 2."""

from appliance.diagnostics import ApplianceError, Diagnostic, Position, Severity


def cannot_run(position: Position, code: str, message: str, fix: str, path: str = "") -> ApplianceError:
    return ApplianceError([Diagnostic(code, Severity.ERROR, position, path, message, fix)], exit_code=2)
