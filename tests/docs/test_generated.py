"""The generated pages of docs/ are those that the code would write now."""

import subprocess
import sys
from pathlib import Path

import pytest

from appliance.codes import every
from docs import generate

DOCS = Path(generate.__file__).parent


@pytest.mark.parametrize("name", generate.PAGES)
def test_page_is_current(name):
    assert (DOCS / name).read_text() == generate.PAGES[name](), "run `make docs`"


def test_every_code_has_its_page_in_docs_and_explain():
    text, rules = (DOCS / "codes.md").read_text(), (DOCS / "rules.md").read_text()
    for code, page in every().items():
        assert f"### {code}: {page.title}\n" in text or f"- **{code}** " in rules
    explained = subprocess.run(
        [sys.executable, "-m", "appliance", "explain", "AP0104"], check=True, capture_output=True, text=True
    )
    assert every()["AP0104"].title in explained.stdout
