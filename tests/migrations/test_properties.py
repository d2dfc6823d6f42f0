"""Properties that hold for any set of options: a second run changes nothing, and nothing dead is left behind."""

import json
import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.migrations.catalogue import Entry, catalogue
from appliance.migrations.change import Part
from appliance.migrations.example import read_example, rewrite
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import Release

BOOK = catalogue()
WORDS = st.text("abcxyz019-_./", min_size=1, max_size=6).filter(lambda word: not word.startswith("-"))
VALUES = {
    "bool": st.sampled_from(["true", "false"]),
    "int": st.integers(0, 9).map(str),
    "float": st.sampled_from(["0.5", "1", "2.0"]),
    "json": st.just("{}"),
    "json-or-str": st.just("{}"),
}


@st.composite
def nested(draw: st.DrawFn, name: str, index: int) -> str:
    """A JSON text of keys that the option's class has in that release."""
    fields = BOOK.classes[BOOK.class_of(name, index) or ""]
    alive = [key for key, entry in fields.items() if entry.exists(index)]
    chosen = draw(st.lists(st.sampled_from(alive), max_size=4, unique=True)) if alive else []
    return json.dumps({key: draw(_plain(fields[key], index)) for key in chosen})


def _plain(entry: Entry, index: int) -> st.SearchStrategy[object]:
    facts = entry.nearest(index)
    if facts.values:
        return st.sampled_from(facts.values)
    numbers = {"bool": st.booleans(), "int": st.integers(1, 9), "float": st.just(0.5)}
    return numbers.get(facts.type, st.sampled_from(["x", "y"]))


@st.composite
def deployments(draw: st.DrawFn) -> tuple[str, Release]:
    index = draw(st.integers(0, len(BOOK.releases) - 1))
    options = [
        name for name, entry in BOOK.options.items() if entry.exists(index) and name not in ("model", "model-tag")
    ]
    variables = [name for name, entry in BOOK.env.items() if entry.exists(index)]
    words = [f"{name}={draw(_text(BOOK.env[name], index))}" for name in draw(_some(variables))]
    words.append("some/model")
    for name in draw(_some(options)):
        facts = BOOK.options[name].nearest(index)
        words.append(f"--{name}")
        if BOOK.class_of(name, index) in BOOK.classes:
            words.append(draw(nested(name, index)))
        elif facts.takes_value:
            words.append(draw(_text(BOOK.options[name], index)))
    return shlex.join(words), BOOK.releases[index]


def _some(names: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), max_size=6, unique=True)


def _text(entry: Entry, index: int) -> st.SearchStrategy[str]:
    facts = entry.nearest(index)
    return st.sampled_from(facts.values).map(str) if facts.values else VALUES.get(facts.type, WORDS)


@given(deployments(), st.sampled_from(BOOK.releases), st.booleans())
@settings(max_examples=400, deadline=None)
def test_a_second_run_changes_nothing(deployment: tuple[str, Release], target: Release, known: bool) -> None:
    text, start = deployment
    first = _run(text, start if known else None, target)
    assert _run(first, start if known else None, target) == first
    assert _run(first, target, target) == first


@given(deployments())
@settings(max_examples=400, deadline=None)
def test_what_the_newest_release_does_not_know_is_gone_or_handed_to_a_person(deployment: tuple[str, Release]) -> None:
    text, start = deployment
    example = read_example(text)
    changes = plan_changes(example.sites, start, BOOK.newest)
    decided = {change.site.name for change in changes if change.site and change.part is Part.DECISION}
    for site in read_example(rewrite(example, changes)).sites:
        entries = BOOK.env if site.kind == "env" else BOOK.options
        known = site.name in ("model", "O") or entries[site.name].exists(len(BOOK.releases) - 1)
        assert known or site.name in decided, site.name


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_refused_without_a_crash(text: str) -> None:
    try:
        example = read_example(text)
    except ValueError:
        return
    changes = plan_changes(example.sites, None, BOOK.newest)
    rewrite(example, changes)


def _run(text: str, start: Release | None, target: Release) -> str:
    example = read_example(text)
    return rewrite(example, plan_changes(example.sites, start, target))
