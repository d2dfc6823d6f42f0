"""Positions are exact: line and column of keys and values, by dotted path."""

from appliance.profile.nodes import dotted, steps
from appliance.profile.text import read_text

TEXT = """\
schema: 1
model:
  source: "a b"      # comment
  served_names: [x, 'y']
shared: &shared
  one: 1
deep: {a: [{b: c}, 2], "x.y": 3}
uses:
  <<: *shared
  two: é: no
"""


def where(path: str, key: bool = False) -> tuple[int, int]:
    document, findings = read_text(TEXT.replace("é: no", '"é"'), "p.yaml")
    assert not findings
    position = document.key_position(path) if key else document.position(path)
    assert position.file == "p.yaml"
    return position.line, position.column


def test_values() -> None:
    assert where("schema") == (1, 9)
    assert where("model.source") == (3, 11)
    assert where("model.served_names[1]") == (4, 21)
    assert where("deep.a[0].b") == (7, 16)
    assert where('deep["x.y"]') == (7, 31)
    assert where("uses.two") == (10, 8)


def test_keys() -> None:
    assert where("model.source", key=True) == (3, 3)
    assert where("deep.a[0].b", key=True) == (7, 13)


def test_merged_values_stand_where_they_are_written() -> None:
    assert where("uses.one") == (6, 8)


def test_what_is_not_written_stands_at_the_key_above_it() -> None:
    assert where("model.dtype") == (2, 1)
    assert where("model.served_names[7]") == (4, 3)
    assert where("kv_cache.dtype") == (1, 1)


def test_paths_survive_being_written_and_read() -> None:
    for path in [("a", "b", 2, "c"), ("x.y", 0), ('quo"te', "back\\slash"), ("a b",)]:
        assert steps(dotted(path)) == path


def test_tree_holds_plain_data_with_references_untouched() -> None:
    document, _ = read_text("a: [1, 2.5, true, null, text]\nb: {c: '${X}'}\n", "p.yaml")
    assert document.tree == {"a": (1, 2.5, True, None, "text"), "b": {"c": "${X}"}}
