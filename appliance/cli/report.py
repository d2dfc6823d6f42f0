"""Results of `appliance validate` for machines: JSON, SARIF 2.1.0, and annotations of GitHub's runners."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..codes import find
from ..diagnostics import Diagnostic
from ..validate import ValidationResult

Results = list[ValidationResult]


def as_json(results: Results) -> str:
    return _dump(
        {
            "files": [
                {
                    "file": result.document.file,
                    "ok": not result.errors,
                    "diagnostics": [_entry(found) for found in result.diagnostics],
                }
                for result in results
            ],
            "errors": sum(len(result.errors) for result in results),
            "warnings": sum(len(result.warnings) for result in results),
        }
    )


def _entry(found: Diagnostic) -> dict[str, Any]:
    return {
        "code": found.code,
        "severity": str(found.severity),
        "file": found.position.file,
        "line": found.position.line,
        "column": found.position.column,
        "path": found.path,
        "message": found.message,
        "fix": found.fix,
    }


def as_sarif(results: Results) -> str:
    found = [diagnostic for result in results for diagnostic in result.diagnostics]
    driver = {
        "name": "appliance",
        "version": __version__,
        "rules": [_rule(code) for code in sorted({diagnostic.code for diagnostic in found})],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnostic) for diagnostic in found],
    }
    return _dump({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]})


def _rule(code: str) -> dict[str, Any]:
    page = find(code)
    if page is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.meaning},
        "help": {"text": page.way_out},
    }


def _result(found: Diagnostic) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(Path(found.position.file).as_posix())}}
    if found.position.line:
        place["region"] = {"startLine": found.position.line, "startColumn": found.position.column}
    location: dict[str, Any] = {"physicalLocation": place}
    if found.path:
        location["logicalLocations"] = [{"fullyQualifiedName": found.path}]
    return {
        "ruleId": found.code,
        "level": str(found.severity),
        "message": {"text": sentence(found)},
        "locations": [location],
    }


def as_github(results: Results) -> str:
    return "".join(_annotation(found) + "\n" for result in results for found in result.diagnostics)


def _annotation(found: Diagnostic) -> str:
    kind = "notice" if found.severity == "note" else str(found.severity)
    place = f"file={_property(found.position.file)}"
    if found.position.line:
        place += f",line={found.position.line},col={found.position.column}"
    return f"::{kind} {place},title={found.code}::{_escaped(sentence(found))}"


def sentence(found: Diagnostic) -> str:
    where = f"{found.path}: " if found.path else ""
    return where + found.message + (f"; {found.fix}" if found.fix else "")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _dump(value: Any) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


REPORTS: dict[str, Callable[[Results], str]] = {"json": as_json, "sarif": as_sarif, "github": as_github}
