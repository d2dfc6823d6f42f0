"""Every code that the sources use has a page, and every page is used."""

import re
from pathlib import Path

import appliance
from appliance.codes import GROUPS, every, find

ROOT = Path(appliance.__file__).parent
MINE = ("AP00", "AP01", "AP02", "AP03")


def test_pages_are_whole() -> None:
    for code, page in every().items():
        assert page.code == code
        assert code[:4] in GROUPS or code[:2] in GROUPS
        assert page.title and page.meaning and page.way_out


def test_codes_of_validation_are_used_and_explained() -> None:
    used: set[str] = set()
    for room in ("profile", "validate"):
        for file in (ROOT / room).rglob("*.py"):
            used |= set(re.findall(r"AP0[0-3]\d\d", file.read_text(encoding="utf-8")))
    assert used == {code for code in every() if code.startswith(MINE)}


def test_find_takes_any_case_and_knows_its_limits() -> None:
    page = find("ap0101")
    assert page is not None and page.code == "AP0101"
    assert find("AP0199") is None
    assert find("XX") is None
