"""Stop strings: nothing of one is ever shown, and how the text arrives does not matter."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from appliance.server.stops import StopSearch

TEXT = st.text("ab·", max_size=30)
STOPS = st.lists(st.text("ab·", min_size=1, max_size=4), min_size=1, max_size=4)


def shown(pieces: list[str], stops: list[str], include: bool) -> tuple[str, str | None]:
    search = StopSearch(tuple(stops), include)
    text = ""
    for piece in pieces:
        text += search.feed(piece)
        if search.found is not None:
            return text, search.found
    return text + search.flush(), None


@given(TEXT, STOPS, st.lists(st.integers(0, 30), max_size=10), st.booleans())
@example("abab", ["bab", "ab"], [1, 3], False)
@example("aab", ["ab", "b"], [2], True)
def test_any_split_gives_the_same_text(text: str, stops: list[str], cuts: list[int], include: bool) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(edges)]
    whole, by_piece, by_character = (shown(split, stops, include) for split in ([text], pieces, list(text)))
    assert whole == by_piece == by_character


@given(TEXT, STOPS)
def test_what_is_shown_early_is_a_beginning_of_the_answer_and_holds_no_stop(text: str, stops: list[str]) -> None:
    final, found = shown([text], stops, include=False)
    assert all(stop not in final for stop in stops)
    assert text.startswith(final)
    search, early = StopSearch(tuple(stops), include=False), ""
    for character in text:
        early += search.feed(character)
        assert final.startswith(early)
        if search.found is not None:
            break
    assert (found is None) == all(stop not in text for stop in stops)


def test_a_text_without_overlap_is_held_back_not_at_all() -> None:
    search = StopSearch(("END",), include=False)
    assert search.feed("some text") == "some text"
    assert search.feed(" E") == " "
    assert search.feed("very") == "Every"
