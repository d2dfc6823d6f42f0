"""Every case file: what it is, what it says, and what edits leave alone."""

from pathlib import Path

import pytest
import yaml_cases
from yaml_cases import CASES, edits, listed, migrated, text_of

from appliance.migrations.canonical import Deployment, Edit, Form, Kind, apply_edits
from appliance.migrations.operations import Comment, Remove

ids = [case.name for case in CASES]


def _remove_all(path: Path, text: str) -> tuple[list[Deployment], list[Edit]]:
    dialect = yaml_cases.dialect_of(path)
    deployments = dialect.read(path.name, text)
    found: dict[Edit, None] = {}
    for deployment in deployments:
        operations = [Remove(site) for site in deployment.sites]
        found |= dict.fromkeys(edits(dialect, text, deployment, list(operations)))
    return deployments, list(found)


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_sites(case: Path) -> None:
    text = text_of(case)
    assert yaml_cases.detected(case.name.partition(".")[2], text) == yaml_cases.dialect_of(case).name
    assert listed(text, yaml_cases.dialect_of(case).read(case.name, text)) == case.with_suffix(".sites").read_text()


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_no_operations_no_edits(case: Path) -> None:
    dialect, text = yaml_cases.dialect_of(case), text_of(case)
    for deployment in dialect.read(case.name, text):
        assert dialect.edit(text, deployment, []) == []


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_removing_everything_leaves_every_other_line(case: Path) -> None:
    text = text_of(case)
    deployments, found = _remove_all(case, text)
    after = apply_edits(text, found)
    left = [site for d in yaml_cases.dialect_of(case).read(case.name, after) for site in d.sites]
    assert [site.name for site in left if site.kind is Kind.OPTION and site.form is not Form.POSITIONAL] == []
    touched: set[int] = set()
    for deployment in deployments:
        for site in deployment.sites:
            first, last = text.count("\n", 0, site.element.start), text.count("\n", 0, site.element.end - 1)
            touched.update(range(first, last + 1))
    kept = [line for number, line in enumerate(text.splitlines()) if number not in touched]
    remaining = after.splitlines()
    for line in kept:
        wanted = {line, f"{line} []", f"{line} {{}}"}
        assert any(other in wanted for other in remaining), line


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_edits_stay_inside_elements(case: Path) -> None:
    """Between two removed neighbours of a flow list, or lines of a command, stands what belongs to neither."""
    text = text_of(case)
    deployments, found = _remove_all(case, text)
    covered: set[int] = set()
    for deployment in deployments:
        for site in deployment.sites:
            covered.update(range(site.element.start, site.element.end))
    for edit in found:
        outside = [text[index] for index in range(edit.span.start, edit.span.end) if index not in covered]
        assert set(outside) <= set(", \n\\")


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_remarks_come_once_and_change_no_site(case: Path) -> None:
    dialect, text = yaml_cases.dialect_of(case), text_of(case)
    for _ in range(2):
        before, found = listed(text, dialect.read(case.name, text)), []
        for deployment in dialect.read(case.name, text):
            found += dialect.edit(
                text, deployment, [Comment(site, "ask {{ x }} somebody") for site in deployment.sites]
            )
        once = apply_edits(text, dict.fromkeys(found))
        assert listed(once, dialect.read(case.name, once)) == before
        new = {line.strip() for line in once.splitlines()} - {line.strip() for line in text.splitlines()}
        assert new <= {"# ask { { x } } somebody"}
        text = once
    assert found == []


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_migrating_twice_is_migrating_once(case: Path) -> None:
    dialect, text = yaml_cases.dialect_of(case), text_of(case)
    once = migrated(dialect, case.name, text)
    assert migrated(dialect, case.name, once) == once


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_line_endings_and_byte_order_mark_survive(case: Path) -> None:
    dialect, text = yaml_cases.dialect_of(case), text_of(case)
    other = "\ufeff" + text.replace("\n", "\r\n")
    assert migrated(dialect, case.name, other) == "\ufeff" + migrated(dialect, case.name, text).replace("\n", "\r\n")
