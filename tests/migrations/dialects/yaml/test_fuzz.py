"""Case files bent out of shape: a reading, or the one known error; edits that still make YAML."""

import random
from pathlib import Path

import pytest
import yaml_cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yaml_cases import CASES, FAMILY, edits, text_of

from appliance.migrations.canonical import Form, Kind, OptionSite, apply_edits
from appliance.migrations.dialects import DialectError, load
from appliance.migrations.operations import KEEP, Add, Comment, Operation, Raw, Remove, Rewrite
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import release

_PIECES = [*"\"'\n\t #{}[]\\|>`é\x00,💥", "\r\n", "- ", ": ", "{{ x }}", "{%- if %}", "&a ", "*a", ">-\n", "${X}"]
_PIECES += ["$(Y)", "\ufeff", "--swap-space", "!tag ", "<<: ", "---\n", "\u2028", "[" * 1500, "? ", "&& ", "2>&1 "]


@st.composite
def bent(draw: st.DrawFn) -> tuple[Path, str]:
    case = draw(st.sampled_from(CASES))
    text = text_of(case)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        if draw(st.booleans()):
            text = text[:at] + draw(st.sampled_from(_PIECES)) + text[at:]
        else:
            text = text[:at] + text[at + draw(st.integers(1, 12)) :]
    return case, text


def _operations(site: OptionSite, random: random.Random) -> Operation:
    name = "new-name" if site.kind is Kind.OPTION else "NEW_NAME"
    value = random.choice([KEEP, "a b", "x: y #z", True, False, 5, None, ["a"], {"a": {"b": 1}}, Raw("${Z}")])
    if site.form is Form.POSITIONAL or random.random() < 0.3:
        return random.choice([Remove(site), Comment(site, "why: {{ }}")])
    return Rewrite(site, name, value, name_path=("deep",) if random.random() < 0.2 and site.kind == "option" else ())


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(bent(), st.randoms(use_true_random=False))
def test_no_surprises(case: tuple[Path, str], random: random.Random) -> None:
    path, text = case
    for name in FAMILY:
        dialect = load(name)
        confidence = dialect.detect(path.name, text)
        assert 0 <= confidence <= 1
        if not confidence:
            continue
        try:
            deployments = dialect.read(path.name, text)
        except DialectError as error:
            assert 0 <= error.offset <= len(text)
            continue
        for deployment in deployments:
            assert all(site.element.end <= len(text) for site in deployment.sites)
            operations = [_operations(site, random) for site in deployment.sites]
            operations += [Add("new-option", "x: y"), Add("VLLM_NEW", "1", kind=Kind.ENV)]
            found = edits(dialect, text, deployment, operations)
            dialect.read(path.name, apply_edits(text, found))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(bent())
def test_rules_on_bent_files(case: tuple[Path, str]) -> None:
    path, text = case
    dialect = yaml_cases.dialect_of(path)
    try:
        deployments = dialect.read(path.name, text)
    except DialectError:
        return
    for deployment in deployments:
        changes = plan_changes(deployment.sites, None, release("0.32"), deployment.model)
        operations = [operation for change in changes for operation in change.operations]
        dialect.read(path.name, apply_edits(text, edits(dialect, text, deployment, operations)))


@pytest.mark.parametrize(
    "text", ["", "\n", "#\n", "\x00\x01\x02", "a", "- a", "vllm: [", "{" * 5000, "&a [*a]\n", "---\n"]
)
@pytest.mark.parametrize("name", FAMILY)
def test_nothing_to_see(name: str, text: str) -> None:
    dialect = load(name)
    if dialect.detect("x.yaml", text) == 0:
        try:
            assert [site for d in dialect.read("x.yaml", text) for site in d.sites] in ([], [None])
        except DialectError as error:
            assert error.fact
