"""The committed catalogue: what it knows, how it names releases, how fast it opens."""

import subprocess
import sys
import time

import pytest

from appliance.migrations.catalogue import FREE, PATH, Free, catalogue
from appliance.migrations.release import Release, release

BOOK = catalogue()


def test_covers_the_releases_in_order() -> None:
    assert BOOK.releases[0] == release("0.8.5") and BOOK.newest >= release("0.33")
    assert list(BOOK.releases) == sorted(BOOK.releases)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("0.32", "0.32.0"),
        ("0.20", "0.20.2"),  # the minor is known by a later patch only
        ("0.10.1", "0.10.0"),
        ("0.10.2.post1", "0.10.2"),
        ("0.11.1", "0.11.0"),
        ("0.6.6", "0.8.5"),
        ("0.40", str(BOOK.newest)),
    ],
)
def test_nearest_snapshot(asked: str, found: str) -> None:
    assert str(BOOK.releases[BOOK.index(release(asked))]) == found


def test_life_of_an_option() -> None:
    swap = BOOK.options["swap-space"]
    assert swap.exists(BOOK.index(release("0.17.1"))) and not swap.exists(BOOK.index(release("0.18.1")))
    assert swap.at(BOOK.index(release("0.32"))) is None
    assert swap.nearest(BOOK.index(release("0.32"))).default == 4


def test_facts_change_over_time() -> None:
    memory = BOOK.options["gpu-memory-utilization"]
    assert [memory.nearest(BOOK.index(release(text))).default for text in ("0.19.1", "0.20.2")] == [0.9, 0.92]
    mamba = BOOK.options["mamba-cache-mode"]
    assert mamba.nearest(BOOK.index(release("0.31"))).values == ("align", "all", "none")
    assert mamba.nearest(BOOK.index(release("0.32"))).values == ("align", "none")
    switch = BOOK.options["enable-prefix-caching"].nearest(BOOK.index(release("0.33")))
    assert switch.negations == ("--no-enable-prefix-caching", "--disable-prefix-caching") and not switch.takes_value


def test_every_spelling_leads_to_its_option() -> None:
    assert BOOK.spellings["-tp"] == ("tensor-parallel-size", False)
    assert BOOK.spellings["--no-enable-chunked-prefill"] == ("enable-chunked-prefill", True)
    assert BOOK.spellings["--disable-log-requests"] == ("disable-log-requests", False)


def test_nested_keys() -> None:
    index = BOOK.index(release("0.31"))
    assert not isinstance(BOOK.key("compilation-config", ("pass_config", "enable_sp"), index), Free | None)
    assert BOOK.key("compilation-config", ("pass_config", "made_up"), index) is None
    assert BOOK.key("hf-overrides", ("anything", "goes"), index) is FREE
    assert BOOK.key("kv-transfer-config", ("kv_connector_extra_config", "read_mode"), index) is FREE
    # 0.8.5 took this option as bare JSON; its keys are those of the class all the same.
    assert BOOK.class_of("speculative-config", 0) == "SpeculativeConfig"


def test_registered_names() -> None:
    index = BOOK.index(release("0.32"))
    assert "hermes" in BOOK.options["tool-call-parser"].nearest(index).values
    connector = BOOK.key("kv-transfer-config", ("kv_connector",), index)
    assert connector is not None and not isinstance(connector, Free)
    assert "NixlConnector" in connector.nearest(index).values


@pytest.mark.parametrize(
    ("text", "wanted"), [("v0.10.2", (0, 10, 2)), ("0.32", (0, 32, 0)), ("v0.8.5-cu124", (0, 8, 5))]
)
def test_releases_are_read_from_tags(text: str, wanted: tuple[int, int, int]) -> None:
    assert release(text) == Release(*wanted)


@pytest.mark.parametrize("text", ["latest", "nightly", "2025-05-27-v1", "", "0", "v"])
def test_other_tags_are_no_releases(text: str) -> None:
    assert Release.parse(text) is None
    with pytest.raises(ValueError, match="not a release"):
        release(text)


def test_file_is_small_and_opens_without_torch(capsys: pytest.CaptureFixture[str]) -> None:
    assert PATH.stat().st_size < 1_000_000
    began = time.perf_counter()
    catalogue.cache_clear()
    assert catalogue().options["model"].exists(0)
    with capsys.disabled():
        print(f"\ncatalogue opened in {(time.perf_counter() - began) * 1000:.1f} ms")
    code = "import sys; import appliance.migrations.plan; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
