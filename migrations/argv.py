"""Command lines in canonical form: words in, option sites out, and back. Every dialect with an argument list uses this.

A dialect cuts its text into words (quotes resolved, no continuations, redirections or `&&`), hands over those behind
`vllm serve` or the api_server module, and turns ranges of words back into spans of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from appliance.migrations.canonical import UNKNOWN, Form, OptionSite, Path, Plain, Quirk, Span, Value
from appliance.migrations.catalogue import Facts, catalogue
from appliance.migrations.operations import MODEL_WORD
from appliance.migrations.values import as_bool, parse, parse_dotted, templated, to_text

# `-O` changed its meaning in 0.12, so it is a name of its own.
OPTIMIZE = "O"
_MANY = ("+", "*")


@dataclass(frozen=True, slots=True)
class Word:
    """One argument as the engine would receive it, and where it stands, quotes included in the span.

    offsets: text offset of every character of `text` where quotes or escapes move them; None when it stands as it is.
    opaque: the shell or a template fills it in; `text` is then what is written.
    """

    text: str
    span: Span
    opaque: bool = False
    offsets: tuple[int, ...] | None = None

    def part(self, start: int, end: int) -> Span:
        """Where characters start..end of the text stand in the file."""
        if self.offsets is None:
            return Span(self.span.start + start, self.span.start + end)
        first = self.offsets[start] if start < len(self.offsets) else self.span.end
        return Span(first, self.offsets[end - 1] + 1 if end > start else first)

    @property
    def unknown(self) -> bool:
        return self.opaque or templated(self.text)


@dataclass(frozen=True, slots=True)
class Range:
    """The words of a site: first and last index, inclusive. The handle of every site that read_words makes."""

    first: int
    last: int


def read_words(words: Sequence[Word], model: bool = True) -> list[OptionSite]:
    """The sites in order. model: whether the first bare word is the model, as after `vllm serve`."""
    sites: list[OptionSite] = []
    position = 0
    waiting = model
    # beside `--model`, a bare word that something fills in later holds more options
    named = any(word.text.partition("=")[0] == "--model" for word in words)
    while position < len(words):
        word = words[position]
        if word.text.startswith("-") and len(word.text) > 1 and not _number(word.text):
            site, position = _option(words, position)
            sites.append(site)
            continue
        if waiting and not (named and word.unknown):
            sites.append(_positional(words, position))
            waiting = False
        position += 1
    return sites


def _positional(words: Sequence[Word], position: int) -> OptionSite:
    word = words[position]
    value: Value = UNKNOWN if word.unknown else word.text
    whole = word.part(0, len(word.text))
    start = Span(whole.start, whole.start)
    place = Range(position, position)
    return OptionSite(
        "model", value, Form.POSITIONAL, start, word.span, raw_value=word.text, value_span=whole, handle=place
    )


def _option(words: Sequence[Word], position: int) -> tuple[OptionSite, int]:
    word = words[position]
    flag, equals, inline = word.text.partition("=")
    quirk: Quirk | None = None
    if not equals and " " in flag.strip():
        flag, _, inline = word.text.partition(" ")
        inline, quirk, equals = inline.strip(), Quirk.JOINED, " "
    named = name_of(flag)
    name, path, negative, facts = named.name, named.path, named.negative, named.facts
    form = Form.NEGATION if negative else Form.FLAG if flag.startswith("--") else Form.SHORT
    one = Range(position, position)
    site = OptionSite(
        name, not negative, form, word.part(0, len(flag)), word.span, path=path, raw_name=flag, quirk=quirk, handle=one
    )
    if named.attached:
        start = len(word.text) - len(named.attached)
        value = _parse(named.attached, facts, path)
        span = word.part(start, len(word.text))
        site = replace(site, name_span=word.part(0, 2), raw_name="-O", raw_value=named.attached, value_span=span)
        return replace(site, value=value), position + 1
    if equals:
        value = UNKNOWN if word.unknown and templated(inline) else _parse(inline, facts, path)
        if facts is not None and not facts.takes_value and not path:
            site, value = replace(site, quirk=Quirk.BOOLEAN_ARGUMENT), _switched(value, negative)
        spelled = Form.EQUALS if equals == "=" and form is Form.FLAG else form
        span = word.part(len(word.text) - len(inline), len(word.text))
        return replace(site, value=value, form=spelled, raw_value=inline, value_span=span), position + 1
    return _spaced(words, position, site, facts, negative)


def _spaced(
    words: Sequence[Word], position: int, site: OptionSite, facts: Facts | None, negative: bool
) -> tuple[OptionSite, int]:
    """`--option value value ...`"""
    if position + 1 == len(words) or not _value_like(words[position + 1]):
        return site, position + 1
    if negative or (facts and not facts.takes_value and not site.path):
        word = words[position + 1]
        if word.text.lower() not in ("true", "false"):
            return site, position + 1
        value = _switched(as_bool(word.text), negative)
        return _taking(replace(site, value=value, quirk=Quirk.BOOLEAN_ARGUMENT), words, position + 1), position + 2
    last = position + 1
    if facts and facts.nargs in _MANY and not site.path:
        while last + 1 < len(words) and _value_like(words[last + 1]):
            last += 1
        taken = words[position + 1 : last + 1]
        value = UNKNOWN if any(word.unknown for word in taken) else [word.text for word in taken]
    else:
        value = UNKNOWN if words[last].unknown else _parse(words[last].text, facts, site.path)
    return _taking(replace(site, value=value), words, last), last + 1


def _taking(site: OptionSite, words: Sequence[Word], last: int) -> OptionSite:
    """The site with the words behind its first one as its value."""
    first = site.handle.first
    taken = words[first + 1 : last + 1]
    span = Span(taken[0].part(0, len(taken[0].text)).start, taken[-1].part(0, len(taken[-1].text)).end)
    return replace(
        site,
        raw_value=" ".join(word.text for word in taken),
        value_span=span,
        element=Span(words[first].span.start, taken[-1].span.end),
        handle=Range(first, last),
    )


def _switched(value: Value, negative: bool) -> Value:
    said = as_bool(value) if value is not UNKNOWN else None
    return value if said is None else said != negative


def _parse(text: str, facts: Facts | None, path: Path) -> Value:
    return parse_dotted(text) if path else parse(text, facts)


def _value_like(word: Word) -> bool:
    return not word.text.startswith("-") or word.text == "-" or _number(word.text)


def _number(text: str) -> bool:
    return text[1:2].isdigit() or text[1:2] == "."


@dataclass(frozen=True, slots=True)
class Named:
    """A flag in canonical form. facts: None for a flag that no release knows. attached: the `3` of `-O3`."""

    name: str
    path: Path = ()
    negative: bool = False
    facts: Facts | None = None
    attached: str = ""


@lru_cache(maxsize=4096)
def name_of(flag: str) -> Named:
    """The canonical name of a flag as written, `--max_model_len`, `-tp`, `-cc.mode`, `--no-enable-x`, `-O3`."""
    head, *path = flag.split(".")
    steps = tuple(step.removesuffix("+") for step in path)
    if head.startswith("-O") and not head.startswith("--"):
        return Named(OPTIMIZE, steps, attached=flag[2:].lstrip("=") if not steps else "")
    if head.startswith("--"):
        head = "--" + head[2:].replace("_", "-")
    book = catalogue()
    name, negative = book.spellings.get(head, (head.lstrip("-"), False))
    entry = book.options.get(name)
    return Named(name, steps, negative, entry.nearest(len(book.releases) - 1) if entry else None)


def write_words(name: str, value: Plain, path: Path = (), equals: bool = False) -> list[str]:
    """The words that set an option; the dialect quotes them. equals: `--x=y` in one word. No name: the value alone."""
    if name == MODEL_WORD:
        return [to_text(value)]
    flag = "--" + ".".join((name, *path)) if name != OPTIMIZE else "-O"
    if value is True and not path:
        return [flag]
    if value is False and not path:
        return [f"--no-{name}"]
    if value is None:
        return []
    entry = catalogue().options.get(name)
    many = entry is not None and entry.nearest(len(catalogue().releases) - 1).nargs in _MANY
    if isinstance(value, list) and many and not path:
        return [flag, *(to_text(item) for item in value)]
    return [f"{flag}={to_text(value)}"] if equals else [flag, to_text(value)]
