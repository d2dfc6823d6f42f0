"""The script family: shell, Dockerfile, Makefile, systemd, env files, Python, Nix; cases are files."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from script_cases import CASES, DIALECTS, covered, dialect_of, migrated, text_of, told

from appliance.migrations.canonical import UNKNOWN, Edit, Form, OptionSite, apply_edits
from appliance.migrations.dialects import detect
from appliance.migrations.operations import Remove

EDITED = [case for case in CASES if case.suffix not in (".py", ".nix", ".tf", ".bat", ".conf")]
# A template is no shell, and files inside a script are known by what they hold.
SHELL = [case for case in CASES if case.suffix == ".sh" and case.name not in ("templated.sh", "files.sh")]


def ids(cases: list[Path]) -> list[str]:
    return [case.name for case in cases]


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_sites(case: Path) -> None:
    expected = case.with_name(case.name + ".sites").read_text()
    assert told(dialect_of(case).read("", text_of(case))) == expected


@pytest.mark.parametrize("case", EDITED, ids=ids(EDITED))
def test_migration(case: Path) -> None:
    expected = case.with_name(case.name + ".migrated").read_bytes().decode()
    assert migrated(dialect_of(case), "", text_of(case)) == expected


@pytest.mark.parametrize("case", EDITED, ids=ids(EDITED))
def test_second_migration_changes_nothing(case: Path) -> None:
    once = migrated(dialect_of(case), "", text_of(case), comments=True)
    assert migrated(dialect_of(case), "", once, comments=True) == once


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_nothing_asked_nothing_done(case: Path) -> None:
    dialect, text = dialect_of(case), text_of(case)
    assert [edit for deployment in dialect.read("", text) for edit in dialect.edit(text, deployment, [])] == []


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_detected(case: Path) -> None:
    found = detect(case.name, text_of(case))
    assert found is not None
    assert found.name == DIALECTS[case.suffix]


@pytest.mark.parametrize("case", EDITED, ids=ids(EDITED))
def test_positions_hold_what_is_written(case: Path) -> None:
    text = text_of(case)
    for deployment in dialect_of(case).read("", text):
        for site in deployment.sites:
            assert text[site.name_span.start : site.name_span.end] == site.raw_name
            if site.value_span is not None and "\\" not in text[site.value_span.start : site.value_span.end]:
                written = text[site.value_span.start : site.value_span.end]
                assert written == site.raw_value or written.split() == (site.raw_value or "").split()
            assert site.element.start <= site.name_span.start <= site.element.end


def bash_accepts(text: str) -> bool:
    return subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("case", SHELL, ids=ids(SHELL))
def test_bash_still_reads_the_script_without_its_sites(case: Path) -> None:
    text = text_of(case).replace("\r\n", "\n")
    dialect = dialect_of(case)
    assert bash_accepts(text)
    edits: list[Edit] = []
    for deployment in dialect.read("", text):
        edits += dialect.edit(text, deployment, [Remove(site) for site in deployment.sites])
    without = apply_edits(text, edits)
    assert bash_accepts(without)
    left = [site for deployment in dialect.read("", without) for site in deployment.sites]
    assert all(site.form is Form.POSITIONAL and site.value is UNKNOWN for site in left)


@pytest.mark.parametrize("case", SHELL, ids=ids(SHELL))
def test_one_site_less_leaves_the_other_lines_and_sites(case: Path) -> None:
    text = text_of(case).replace("\r\n", "\n")
    dialect = dialect_of(case)
    for index, deployment in enumerate(dialect.read("", text)):
        for site in deployment.sites[:4]:
            edits = dialect.edit(text, deployment, [Remove(site)])
            assert all(covered(text, (site,), edit) for edit in edits)
            without = apply_edits(text, edits)
            assert bash_accepts(without)
            left = [other for other in deployment.sites if other is not site]
            if left and edits and site.form is not Form.POSITIONAL:
                again = dialect.read("", without)[index]
                assert settled(again.sites) == settled(left)


def settled(sites: Iterable[OptionSite]) -> list[tuple[str, tuple[str, ...], object]]:
    """Without what takes the place of a model once the model is gone."""
    return [(site.name, site.path, site.value) for site in sites if site.form is not Form.POSITIONAL]
