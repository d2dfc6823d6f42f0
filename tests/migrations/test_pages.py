"""Every code that the resolver can give has a page, and no page names a code that it cannot."""

import re
from pathlib import Path

import appliance.migrations.plan
from appliance.migrations.pages import pages
from appliance.migrations.releases import RULES

ROOM = Path(appliance.migrations.plan.__file__).parent


def test_every_rule_has_a_page_with_reason_evidence_and_way_out() -> None:
    for rule in RULES:
        page = pages()[rule.code]
        assert rule.reason[1:] in page.meaning and rule.evidence in page.meaning
        assert page.title and page.way_out


def test_general_codes_in_the_sources_are_those_with_pages() -> None:
    written = {
        code
        for path in ROOM.glob("*.py")
        if path.name != "pages.py"
        for code in re.findall(r'"(VM00\d\d)"', path.read_text())
    }
    assert written == {code for code in pages() if code.startswith("VM00")}


def test_pages_show_before_and_after() -> None:
    assert pages()["VM1306"].example == "--cuda-graph-sizes 1 2 4\n--cudagraph-capture-sizes 1 2 4"
    assert pages()["VM1801"].example == "--swap-space 16\n(nothing)"
