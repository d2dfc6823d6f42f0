"""Any value in any field goes through all tiers, this machine's included, without an exception."""

import json
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from appliance.profile.fields import all_fields
from appliance.profile.nodes import steps
from appliance.validate import validate

WORDS = sorted({word for field in all_fields().values() for word in field.words})
TEXTS = [
    *WORDS,
    *[
        "",
        "*",
        "~",
        "~nobody-here/x",
        "a/" * 3000,
        "a" * 300,
        "9" * 400 + "B",
        "9" * 5000 + " tokens",
        "0.32",
        "9" * 3 + ".1",
    ],
    *[
        "hf:a/b",
        "pypi:a==1#b",
        "x.gguf",
        "/",
        ".",
        "4GiB",
        "30s",
        "64 tokens",
        "[::1]:0",
        "127.0.0.1:0",
        "a" * 300 + ":80",
    ],
    *["\u0661:\u0662", "http://x", "${HOME}", "${", "-1", "1e999", "\u202e", "https://a:b@c"],
]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.sampled_from(TEXTS), st.text(max_size=6)
)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.dictionaries(
        st.sampled_from(["env", "file", "name", "source", "cert", "key", "repo", "path", "x"]), SCALARS, max_size=4
    ),
)


@settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from(sorted(all_fields())), VALUES, min_size=1, max_size=4))
@example({"limits.body": "9" * 400 + "B"})
@example({"model.source": "~nobody-here/x"})
@example({"model.chat_template": "a/" * 3000})
@example({"security.bind": "a" * 300 + ":80"})
def test_no_exception(tmp_path_factory: object, fields: dict[str, object]) -> None:
    tree: dict[str, object] = {"schema": 1, "name": "a", "release": "0.32", "model": {"source": "/nowhere"}}
    for path, value in fields.items():
        put(tree, path, value)
    folder = Path(tmp_path_factory.getbasetemp())  # type: ignore[attr-defined]
    (folder / "fuzz.yaml").write_text(json.dumps(tree), encoding="utf-8")
    result = validate(folder / "fuzz.yaml", environ={"HOME": "/root"})
    assert result.profile is not None or result.errors
    assert all(str(finding).isprintable() for finding in result.diagnostics)


def put(tree: dict[str, object], path: str, value: object) -> None:
    """Sets a dotted path; lists get one item."""
    *above, last = [step for step in steps(path.replace("[]", "")) if isinstance(step, str)]
    for step in above:
        inner = tree.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree[last] = value
