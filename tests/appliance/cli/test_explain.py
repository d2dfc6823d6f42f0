"""`appliance explain` has a page for every code and every field."""

from collections.abc import Callable
from typing import Any

import pytest

from appliance.codes import every
from appliance.profile.fields import all_fields, leaves
from appliance.profile.values import default, values

Run = Callable[..., Any]


@pytest.mark.parametrize("code", every())
def test_code(run: Run, code: str) -> None:
    ran = run("explain", code)
    assert ran.code == 0
    assert " ".join(ran.out.split()).startswith(f"{code} {every()[code].title}")
    example = {line.strip() for line in every()[code].example.splitlines()}
    assert all(len(line) <= 80 or line.strip() in example for line in ran.out.splitlines())


@pytest.mark.parametrize("path", all_fields())
def test_field(run: Run, path: str) -> None:
    ran = run("explain", path)
    assert (ran.code, ran.out.splitlines()[0]) == (0, path)
    assert max(map(len, ran.out.splitlines())) <= 80


def test_field_says_everything_that_is_declared(run: Run) -> None:
    assert (
        run("explain", "engine.batching.max_tokens").out
        == """\
engine.batching.max_tokens

Most tokens computed in one step: running requests first, then pieces of
prompts.

    values   auto, or a whole number from 1 up
    default  auto
    unit     tokens
    reload   reconfigure: the running engine takes an edit between two steps
             (backend vllm needs a new one)
    option   --max-num-batched-tokens of `vllm serve`
    since    release 0.31
"""
    )


def test_says_what_is_not_built_yet(run: Run) -> None:
    assert "not yet  /v1/responses; write auto" in run("explain", "endpoints.responses").out


@pytest.mark.parametrize("option", ["--max-model-len", "max_model_len", "max-model-len"])
def test_engine_option_leads_to_its_field(run: Run, option: str) -> None:
    assert run("explain", option).out.startswith("model.max_context\n")


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("AP9999", "AP9999 is no code"),
        ("kv_cach.dtype", "did you mean kv_cache.dtype?"),
        ("dtyp", "did you mean dtype?"),
        ("zzzzzz", '"zzzzzz" is no code, field or option'),
        ("", '"" is no code, field or option'),
    ],
)
def test_unknown_topic(run: Run, topic: str, said: str) -> None:
    ran = run("explain", topic)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize("path", leaves())
def test_values_and_defaults_are_words(path: str) -> None:
    field = leaves()[path]
    assert values(field)
    assert "PydanticUndefined" not in default(field)
    assert "<class" not in values(field) + default(field)


@pytest.mark.parametrize("written", ["swap-space", "--swap-space", "swap_space"])
def test_an_option_by_name(run: Run, written: str) -> None:
    assert run("explain", "--option", written).out == run("explain", "--swap-space").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "one topic"),
        (("--option", "swap-space", "AP0101"), "one topic"),
        (("--option", "nope"), 'an option "nope"'),
    ],
)
def test_no_topic_or_two_or_none_that_is_known(run: Run, arguments: tuple[str, ...], says: str) -> None:
    ran = run("explain", *arguments)
    assert ran.code == 2 and ran.out == "" and says in ran.err
