"""Tokens on their way back to text: how the engine's updates split them changes nothing."""

from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from appliance.engine.protocol import FinishReason, Update
from appliance.engine.tokenizer import load
from appliance.server.choice import Choice

EOS = 256


def answer(model: Path, ids: list[int], cuts: list[int], reason: FinishReason, **options: object) -> tuple[object, ...]:
    """(text, token ids, finish reason, stop reason, tokens counted) when the updates end at `cuts`."""
    settings = {"stops": [], "include_stop": False, "skip_special": True, "min_tokens": 0, **options}
    choice = Choice(load(model), [104], **settings)  # type: ignore[arg-type]
    edges = sorted({min(cut, len(ids)) for cut in cuts} - {0} | {len(ids)})
    text, seen, start = "", [], 0
    for edge in edges:
        piece = choice.feed(
            Update(request_id="r", token_ids=ids[start:edge], finish_reason=reason if edge == len(ids) else None)
        )
        text += piece.text
        seen += piece.token_ids
        start = edge
        if choice.finished:
            break
    assert choice.finished
    return text, seen, piece.finish_reason, piece.stop_reason, choice.tokens


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text("abé😀", min_size=1, max_size=12),
    stops=st.lists(st.text("abé😀", min_size=1, max_size=3), max_size=4),
    cuts=st.lists(st.integers(1, 40), max_size=8),
    reason=st.sampled_from(["stop", "length"]),
    include=st.booleans(),
    min_tokens=st.integers(0, 6),
)
@example("aéb", ["é"], [2], "length", False, 0)
@example("aéb", ["éb"], [2, 3], "stop", True, 2)
def test_any_split_of_the_tokens_gives_the_same_answer(
    model: Path, text: str, stops: list[str], cuts: list[int], reason: FinishReason, include: bool, min_tokens: int
) -> None:
    ids = [*text.encode(), *([EOS] if reason == "stop" else [])]
    options = {"stops": stops, "include_stop": include, "min_tokens": min_tokens}
    whole = answer(model, ids, [], reason, **options)
    assert answer(model, ids, cuts, reason, **options) == whole
    assert answer(model, ids, list(range(len(ids))), reason, **options) == whole
    if not stops:
        assert whole == (text, ids, reason, None, len(ids))


def test_tokens_after_a_stop_string_in_one_update_do_not_count(model: Path) -> None:
    ids = list(b"one. two")
    assert answer(model, ids, [], "length", stops=["."]) == ("one", list(b"one."), "stop", ".", 4)


def test_an_end_that_brings_no_token_keeps_the_text(model: Path) -> None:
    choice = Choice(load(model), [104], ["xy"], False, True, 0)
    assert choice.feed(Update(request_id="r", token_ids=list(b"abx"))).text == "ab"
    end = choice.feed(Update(request_id="r", finish_reason="abort"))
    assert (end.text, end.finish_reason) == ("x", "abort")
