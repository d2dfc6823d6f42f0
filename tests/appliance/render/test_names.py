"""Names of objects, made from names of profiles."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from render_inputs import Make, profile_text, rendered
from strict_manifests import check_object

from appliance.render.names import dns_label

NAMES = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")


@given(NAMES)
def test_names_are_dns_labels_with_room_for_suffixes(name: str) -> None:
    label = dns_label(name)
    assert re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", label)
    assert len(label) <= 51
    assert dns_label(label) == label


def test_long_names_stay_apart() -> None:
    assert dns_label("a" * 62 + "b") != dns_label("a" * 62 + "c")


@pytest.mark.parametrize("name", ["null", "on", "y", "1e3", "0x1f", "2024-01-01", "1_000", "A.b_C", "7", "true"])
def test_names_that_yaml_could_misread(make: Make, name: str) -> None:
    made = rendered("kubernetes", make(profile_text(name=f'"{name}"')), monitor=True)
    for tree in yaml.safe_load_all(made.text):
        check_object(tree)
        assert tree["metadata"]["name"] == dns_label(name)
    noted = any(remark.code == "AP0803" for remark in made.remarks)
    assert noted is (dns_label(name) != name)
