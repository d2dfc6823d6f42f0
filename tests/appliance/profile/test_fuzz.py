"""Whatever stands in a file, reading it ends in findings or in a profile, never in an exception."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import appliance
from appliance.profile import Profile
from appliance.profile.fields import leaves
from appliance.profile.load import to_profile
from appliance.profile.nodes import steps
from appliance.profile.text import read_bytes, read_text

PROFILES = [
    path.read_text(encoding="utf-8")
    for root in appliance.__path__
    for path in sorted(Path(root, "profiles").glob("*.yaml"))
]
ENVIRON = {"SET": "value"}
FAST = settings(max_examples=150, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])

yamlish = st.lists(
    st.sampled_from(
        [
            *"abc[]{}:,-#&*!|>'\"%@`?~ \n\t",
            ": ",
            "- ",
            "\n  ",
            "<<: ",
            "${",
            "}",
            "$${SET}",
            "&a",
            "*a",
            "no",
            "0x1",
            "1e9",
            "schema",
            "---\n",
            "é",
        ]
    ),
    max_size=60,
).map("".join)
anything = st.one_of(yamlish, st.text(max_size=80))
values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.sampled_from(["on", "auto", "4GiB", "30s", "1 tokens", "hf:a/b", "${SET}", "*"]),
        st.text(max_size=8),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=6,
)


def check(text: str) -> Profile | None:
    document, findings = read_text(text, "p.yaml")
    profile, more = to_profile(document, ENVIRON)
    assert profile is not None or findings or more
    for finding in [*findings, *more]:
        assert str(finding).count("\n") == 0
        assert finding.position.line <= text.count("\n") + 2
    return profile


@FAST
@given(st.binary(max_size=200))
def test_bytes(data: bytes) -> None:
    document, findings = read_bytes(data, "p.yaml")
    assert document.root is not None or findings
    to_profile(document, ENVIRON)


@FAST
@given(anything)
def test_text(text: str) -> None:
    check(text)


@FAST
@given(st.sampled_from(PROFILES), st.data())
def test_profiles_with_characters_put_in_and_taken_out(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(anything) + text[at + data.draw(st.integers(0, 5)) :]
    check(text)


@FAST
@given(st.sampled_from(sorted(leaves())), values)
def test_any_value_in_any_field(path: str, value: object) -> None:
    import json

    tree: object = value
    for step in reversed(steps(path.replace("[]", "[0]"))):
        tree = [tree] if isinstance(step, int) else {step: tree}
    assert isinstance(tree, dict)
    head = {"schema": 1, "name": "a", "release": "0.32", "model": {"source": "/m"}}
    check(json.dumps({**head, **tree}, ensure_ascii=False))


@pytest.mark.parametrize("profile", PROFILES, ids=lambda text: text.split("name: ")[1].split()[0])
def test_every_beginning_of_a_profile(profile: str) -> None:
    for end in range(0, len(profile), 7):
        check(profile[:end])
