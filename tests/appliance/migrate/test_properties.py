"""Over the case files of every dialect: what is done twice changes nothing; outside of options, no byte changes."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from appliance.migrate import Found, Wanted, migrate_file
from appliance.migrate.source import read
from appliance.migrate.write import write
from appliance.migrations.catalogue import catalogue
from appliance.migrations.dialects import DIALECTS
from appliance.migrations.release import Release

CASES = sorted(
    path
    for path in (Path(__file__).parents[2] / "migrations" / "cases").rglob("*")
    if path.is_file() and path.suffix not in (".sites", ".migrated")
)
TARGET = Release(0, 32)
ODD = ["\0", "\r", '"', "'", "\\", "{{", "}}", "${", ")", "\u2028", "é", "- ", ": ", "#", "\n", "&a ", "*a ", "<<: "]


def test_every_dialect_has_a_case() -> None:
    seen = {migrate_file(Found(str(case), True), Wanted(TARGET)).dialect for case in CASES}
    assert set(DIALECTS) <= seen


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("comments", [True, False])
def test_twice_is_once(case: Path, comments: bool, tmp_path: Path) -> None:
    copy = tmp_path / case.name
    copy.write_bytes(case.read_bytes())
    wanted = Wanted(TARGET, comments=comments)
    first = migrate_file(Found(str(copy), True), wanted)
    assert first.source is not None and first.problem is None
    write(first.source, first.new_text)
    second = migrate_file(Found(str(copy), True), wanted)
    assert second.new_text == first.new_text == read(str(copy)).text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_lines_without_findings_stay(case: Path) -> None:
    """Every line of the old text that holds no edited site stands in the new one, in the same order.

    It may go on: what is added comes behind it, and a list or mapping that lost its last item becomes `[]` or `{}`.
    """
    result = migrate_file(Found(str(case), True), Wanted(TARGET, comments=False))
    assert result.lines is not None
    touched = {
        line
        for outcome in result.outcomes
        for site in outcome.deployment.sites
        for line in range(result.lines.at(site.element.start)[0], result.lines.at(site.element.end)[0] + 1)
    }
    new = iter(result.new_text.split("\n"))
    for number, line in enumerate(result.text.split("\n"), 1):
        assert number in touched or any(other.startswith(line) for other in new), (number, line)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_line_ends_do_not_matter(case: Path, tmp_path: Path) -> None:
    text = case.read_bytes().decode().replace("\r\n", "\n")
    plain, windows = tmp_path / "a" / case.name, tmp_path / "b" / case.name
    for path, ends in ((plain, "\n"), (windows, "\r\n")):
        path.parent.mkdir()
        path.write_bytes(text.replace("\n", ends).encode())
    one, other = (migrate_file(Found(str(path), True), Wanted(TARGET)) for path in (plain, windows))
    if one.dialect == other.dialect and len(one.outcomes) == len(other.outcomes):
        assert other.new_text.count("\n") == other.new_text.count("\r\n")


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bent_files_end_in_a_text_or_a_sentence(tmp_path: Path, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    text = case.read_bytes().decode()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 30))
        text = text[:at] + data.draw(st.sampled_from(ODD)) + text[at + cut :]
    path = tmp_path / case.name
    path.write_bytes(text.encode())
    target = data.draw(st.sampled_from(catalogue().releases))
    start = data.draw(st.sampled_from([None, *catalogue().releases]))
    result = migrate_file(Found(str(path), True), Wanted(target, start))
    assert result.problem is not None or result.source is not None
    if result.problem is None:
        result.new_text.encode()
