"""Every rule's own example, taken from the release before it to its release; the catalogue agrees with every rule."""

import pytest

from appliance.migrations.catalogue import Free, catalogue
from appliance.migrations.change import Part
from appliance.migrations.example import read_example, rewrite
from appliance.migrations.plan import plan_changes
from appliance.migrations.release import Release
from appliance.migrations.releases import BY_CODE, RULES
from appliance.migrations.rule import Nature, Room, Rule, Target

BOOK = catalogue()
EDITING = [rule for rule in RULES if rule.puts is not None]
TELLING = [rule for rule in RULES if rule.behaviour and rule.target.room in (Room.OPTION, Room.ENV)]
OUTSIDE = [rule for rule in RULES if rule.target.room not in (Room.OPTION, Room.ENV)]
REMOVING = [
    rule
    for rule in EDITING
    if rule.since >= BOOK.releases[0] and rule.match is None and rule.target.name != "hf-overrides"
]
# Still accepted by their release, with a warning: the rule comes before the option goes.
NO_OPS = {"VM3218", "VM3301", "VM3316"}


def code(rule: Rule) -> str:
    return rule.code


def before(rule: Rule) -> Release:
    if rule.since < BOOK.releases[0]:
        return Release(0, 5, 0)
    index = BOOK.index(rule.since)
    return BOOK.releases[index - 1] if index else Release(0, 8, 4)


def migrated(text: str, start: Release, target: Release) -> tuple[str, list[str]]:
    example = read_example(text)
    model = next((str(site.value) for site in example.sites if site.name == "model"), None)
    changes = plan_changes(example.sites, start, target, model)
    return rewrite(example, changes), [change.code for change in changes]


def test_codes_are_unique_and_name_their_release() -> None:
    assert len(BY_CODE) == len(RULES)
    for rule in RULES:
        assert rule.code.startswith("VM") and len(rule.code) == 6
        assert int(rule.code[2:4]) == rule.since.minor or rule.since < BOOK.releases[0]
        assert rule.reason and rule.evidence and not rule.reason.endswith("."), rule.code


@pytest.mark.parametrize("rule", EDITING, ids=code)
def test_example_is_rewritten(rule: Rule) -> None:
    text, codes = migrated(rule.before, before(rule), rule.since)
    assert text == read_back(rule.after)
    assert rule.code in codes


@pytest.mark.parametrize("rule", EDITING, ids=code)
def test_rewritten_example_stays_as_it_is(rule: Rule) -> None:
    assert migrated(rule.after, before(rule), rule.since)[0] == read_back(rule.after)


@pytest.mark.parametrize("rule", TELLING, ids=code)
def test_changed_behaviour_is_told_and_nothing_edited(rule: Rule) -> None:
    _, codes = migrated(rule.before, before(rule), rule.since)
    assert rule.code in codes
    _, later = migrated(rule.before, rule.since, rule.since)
    assert rule.code not in later


@pytest.mark.parametrize("rule", OUTSIDE, ids=code)
def test_clients_are_told_once_the_release_is_crossed(rule: Rule) -> None:
    text = rule.before or "--port 8000"
    assert rule.code in migrated(text, before(rule), rule.since)[1]
    assert rule.code not in migrated(text, rule.since, BOOK.newest)[1]


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.puts is None and not rule.behaviour], ids=code)
def test_what_needs_a_person_is_left_and_marked(rule: Rule) -> None:
    example = read_example(rule.before)
    changes = plan_changes(example.sites, before(rule), rule.since)
    found = next(change for change in changes if change.code == rule.code)
    assert found.part is Part.DECISION and found.way_out
    assert rewrite(example, changes) == read_back(rule.before)


@pytest.mark.parametrize("rule", REMOVING, ids=code)
def test_what_a_rule_takes_away_is_gone_in_that_release(rule: Rule) -> None:
    index = BOOK.index(rule.since)
    if rule.code in NO_OPS:
        return
    assert exists(rule.target, index - 1)
    assert not exists(rule.target, index)


@pytest.mark.parametrize("rule", EDITING, ids=code)
def test_what_a_rule_writes_exists_in_that_release(rule: Rule) -> None:
    for put in rule.puts or ():
        assert exists(put.target, BOOK.index(rule.since)), put.target


def exists(target: Target, index: int) -> bool:
    if target.room is Room.ENV:
        return target.name in BOOK.env and BOOK.env[target.name].exists(index)
    if target.name not in BOOK.options or not BOOK.options[target.name].exists(index):
        return False
    if not target.path:
        return True
    key = BOOK.key(target.name, target.path, index)
    return isinstance(key, Free) or (key is not None and key.exists(index))


def read_back(text: str) -> str:
    return rewrite(read_example(text), [])


def test_defaults_named_by_rules_did_change() -> None:
    """A default rule about an option that exists on both sides names a default that the catalogue saw move."""
    by_model = {"VM3226"}
    for rule in RULES:
        if rule.nature is not Nature.DEFAULT or rule.target.room is not Room.OPTION or rule.target.path:
            continue
        entry = BOOK.options.get(rule.target.name)
        index = BOOK.index(rule.since)
        if (
            entry is None
            or index == 0
            or not (entry.exists(index) and entry.exists(index - 1))
            or rule.code in by_model
        ):
            continue
        assert entry.nearest(index).default != entry.nearest(index - 1).default, rule.code
