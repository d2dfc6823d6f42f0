"""Command lines as canonical sites: names, values, forms, and spans that lead back to the text."""

import shlex

import pytest

from appliance.migrations.argv import Word, read_words, write_words
from appliance.migrations.canonical import UNKNOWN, Edit, Form, OptionSite, OverlapError, Quirk, Span, apply_edits


def sites(line: str, model: bool = True) -> list[OptionSite]:
    offset = 0
    words = []
    for part in shlex.split(line):
        words.append(Word(part, Span(offset, offset + len(part))))
        offset += len(part) + 1
    return read_words(words, model)


@pytest.mark.parametrize(
    ("line", "name", "value", "form"),
    [
        ("--max-model-len 4096", "max-model-len", 4096, Form.FLAG),
        ("--max_model_len=4k", "max-model-len", 4000, Form.EQUALS),
        ("--max-model-len 4K", "max-model-len", 4096, Form.FLAG),
        ("-tp=4", "tensor-parallel-size", 4, Form.SHORT),
        ("-tp 4", "tensor-parallel-size", 4, Form.SHORT),
        ("--trust-remote-code", "trust-remote-code", True, Form.FLAG),
        ("--no-enable-prefix-caching", "enable-prefix-caching", False, Form.NEGATION),
        ("--disable-prefix-caching", "enable-prefix-caching", False, Form.NEGATION),
        ("--served-model-name a b", "served-model-name", ["a", "b"], Form.FLAG),
        ("--compilation-config '{\"mode\": 3}'", "compilation-config", {"mode": 3}, Form.FLAG),
        ("--kv-transfer-config '{\"n\": 80g}'", "kv-transfer-config", {"n": 80 * 10**9}, Form.FLAG),
        ("--swap-space -1", "swap-space", -1, Form.FLAG),
        ("-O3", "O", "3", Form.SHORT),
        ("-O 3", "O", "3", Form.SHORT),
        ("--model '$(MODEL)'", "model", UNKNOWN, Form.FLAG),
        ("--max-model-len='${LEN:-8192}'", "max-model-len", UNKNOWN, Form.EQUALS),
        ('--speculative-config \'{"model": "{{ .Draft }}"}\'', "speculative-config", UNKNOWN, Form.FLAG),
        ("--made-up x", "made-up", "x", Form.FLAG),
    ],
)
def test_one_option(line: str, name: str, value: object, form: Form) -> None:
    (site,) = sites(line, model=False)
    assert (site.name, site.value, site.form, site.quirk) == (name, value, form, None)


def test_dotted_keys() -> None:
    (site,) = sites("-cc.pass_config.fuse_allreduce_rms true", model=False)
    assert (site.name, site.path, site.value) == ("compilation-config", ("pass_config", "fuse_allreduce_rms"), True)


@pytest.mark.parametrize(
    ("line", "quirk", "value"),
    [
        ("--enable-chunked-prefill=false", Quirk.BOOLEAN_ARGUMENT, False),
        ("--enable-chunked-prefill False", Quirk.BOOLEAN_ARGUMENT, False),
        ("--no-enable-chunked-prefill=false", Quirk.BOOLEAN_ARGUMENT, True),
        ("'--dtype auto'", Quirk.JOINED, "auto"),
    ],
)
def test_spellings_that_the_engine_misreads(line: str, quirk: Quirk, value: object) -> None:
    (site,) = sites(line, model=False)
    assert (site.quirk, site.value) == (quirk, value)


def test_the_model_is_the_first_bare_word() -> None:
    found = sites("--host 0.0.0.0 some/model --enforce-eager other")
    assert [(site.name, site.value) for site in found] == [
        ("host", "0.0.0.0"),
        ("model", "some/model"),
        ("enforce-eager", True),
    ]


def test_spans_lead_to_what_is_written() -> None:
    line = "m --max_model_len=4096 -tp 2 --served-model-name a b"
    for site in sites(line):
        assert line[site.name_span.start : site.name_span.end] == site.raw_name
        if site.value_span is not None:
            assert line[site.value_span.start : site.value_span.end] == site.raw_value
        assert site.element.start <= site.name_span.start and site.name_span.end <= site.element.end


def test_spans_through_quotes_follow_the_offsets() -> None:
    text = '--port="80""00"'
    offsets = (0, 1, 2, 3, 4, 5, 6, 8, 9, 12, 13)
    word = Word("--port=8000", Span(0, len(text)), offsets=offsets)
    (site,) = read_words([word], model=False)
    assert site.value_span == Span(8, 14) and text[8:14] == '80""00'


@pytest.mark.parametrize(
    ("name", "value", "path", "words"),
    [
        ("port", 8000, (), ["--port", "8000"]),
        ("enforce-eager", True, (), ["--enforce-eager"]),
        ("enable-prefix-caching", False, (), ["--no-enable-prefix-caching"]),
        ("served-model-name", ["a", "b"], (), ["--served-model-name", "a", "b"]),
        ("allowed-origins", ["*"], (), ["--allowed-origins", '["*"]']),
        ("compilation-config", {"mode": 3}, (), ["--compilation-config", '{"mode": 3}']),
        ("eplb-config", True, ("use_async",), ["--eplb-config.use_async", "true"]),
    ],
)
def test_words_written_are_read_back(name: str, value: object, path: tuple[str, ...], words: list[str]) -> None:
    assert write_words(name, value, path) == words  # type: ignore[arg-type]
    (site,) = sites(shlex.join(words), model=False)
    assert (site.name, site.path) == (name, path)


def test_edits_are_made_right_to_left() -> None:
    edits = [Edit(Span(0, 1), "AA"), Edit(Span(3, 3), "x"), Edit(Span(3, 3), "y"), Edit(Span(4, 6), "")]
    assert apply_edits("abcdef", edits) == "AAbcxyd"


def test_what_two_edits_take_out_is_taken_out_once() -> None:
    """Two words of one line, whose blank each takes along."""
    assert apply_edits("a b c", [Edit(Span(0, 2), ""), Edit(Span(1, 3), ""), Edit(Span(4, 5), "d")]) == " d"


def test_edits_that_overlap_or_lie_outside_are_refused() -> None:
    with pytest.raises(OverlapError):
        apply_edits("abcdef", [Edit(Span(0, 3), ""), Edit(Span(2, 4), "x")])
    with pytest.raises(ValueError, match="outside"):
        apply_edits("abc", [Edit(Span(2, 4), "")])
    with pytest.raises(ValueError, match="no such span"):
        Span(3, 2)
