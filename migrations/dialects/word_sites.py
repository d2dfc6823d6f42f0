"""Option sites of word lists: which words each one takes, variables with their flags."""

from dataclasses import dataclass, replace

from appliance.migrations.argv import Range, read_words
from appliance.migrations.canonical import UNKNOWN, Form, Kind, OptionSite, Span
from appliance.migrations.dialects.layers import Inlay, span
from appliance.migrations.dialects.pieces import WordList
from appliance.migrations.values import templated


@dataclass(frozen=True, slots=True)
class Place:
    """A site's words in a list. inner: from where in its word the setting itself stands, as in `--env=A=B`.

    origin: the literal that the value was followed to, as (list, index, from character); fixed: why it cannot change.
    borrowed: another deployment of the file edits it, they share it.
    """

    words: WordList
    first: int
    last: int
    inner: int = 0
    origin: tuple[WordList, int, int] | None = None
    fixed: str = ""
    borrowed: bool = False


def read_list(words: WordList, first: int, last: int, model: bool) -> list[OptionSite]:
    """The option sites among the words first..last, exclusive, with their places."""
    sites = read_words([piece.word(words.layer, words.syntax) for piece in words.pieces[first:last]], model)
    return [_placed(site, words, site.handle, first) for site in sites]


def _placed(site: OptionSite, words: WordList, found: Range, shift: int) -> OptionSite:
    place = Place(words, found.first + shift, found.last + shift)
    return replace(site, element=words.element(place.first, place.last), handle=place)


def env_site(words: WordList, index: int, inner: int = 0) -> OptionSite:
    piece = words.pieces[index]
    name, _, value = piece.text[inner:].partition("=")
    inlay = piece.inlay(words.layer, words.syntax)
    behind = inner + len(name)
    flagged = index > 0 and not inner and words.pieces[index - 1].text in ("-e", "--env")
    first = index - flagged
    return OptionSite(
        name,
        UNKNOWN if piece.opaque or templated(value) else value,
        Form.ENV,
        span(inlay, inner, behind),
        words.element(first, index),
        Kind.ENV,
        raw_name=name,
        raw_value=value,
        value_span=span(inlay, behind + 1, len(piece.text)) if value else _after(inlay, behind),
        handle=Place(words, first, index, inner),
    )


def _after(inlay: Inlay, behind: int) -> Span:
    end = inlay.bounds(behind, behind + 1)[1]
    return Span(end, end)
