"""The road from a file to a Profile: text tier, then schema tier."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from ..diagnostics import Diagnostic, Severity
from .document import Document
from .errors import schema_findings
from .foreign import foreign
from .plain import to_plain
from .root import Profile
from .text import read_bytes, read_file


def load(
    path: str, environ: Mapping[str, str] | None = None, text: str | None = None, base: Path | None = None
) -> tuple[Document, Profile | None, list[Diagnostic]]:
    """The profile is None where a finding is an error. `environ` None = the process's own.

    `text` is taken instead of the file's, `base` instead of the file's folder for relative paths.
    """
    document, findings = read_file(path) if text is None else read_bytes(text.encode(), path)
    profile, more = to_profile(document, environ, base)
    spoken = {finding.position for finding in findings}
    new = [finding for finding in more if finding.position not in spoken]
    found = sorted([*findings, *new], key=lambda finding: finding.position)
    if any(finding.severity is Severity.ERROR for finding in found):
        profile = None
    return document, profile, found


def to_profile(
    document: Document, environ: Mapping[str, str] | None = None, base: Path | None = None
) -> tuple[Profile | None, list[Diagnostic]]:
    if document.root is None:
        return None, []
    data, findings = to_plain(document, os.environ if environ is None else environ)
    if any(finding.code == "AP0013" for finding in findings):
        return None, findings
    if other := foreign(document, data):
        return None, [*findings, other]
    folder = str(base or Path(document.file).absolute().parent)
    try:
        profile = Profile.model_validate(data, context={"base": folder})
    except ValidationError as error:
        spoken = {finding.path for finding in findings}
        schema = schema_findings(document, data, error.errors(include_url=False))
        return None, [*findings, *(finding for finding in schema if finding.path not in spoken)]
    return profile, findings
