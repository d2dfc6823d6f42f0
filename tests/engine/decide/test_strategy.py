"""Label tokens and reads, over real tokenizers whose templates end in friendly and unfriendly ways."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_model

from appliance.engine.decide import Decision, DecisionError, NextTokenStrategy, UnavailableError, parse_questions
from appliance.engine.protocol import TokenLogprobs
from appliance.engine.tokenizer import Tokenizer, load

SPEC = {
    "letter": {"type": "choice", "instructions": "Which?", "criteria": {"a": "first", "b": None, "c": None}},
    "late": {"type": "noul", "instructions": "Late?"},
    "rank": {"type": "score", "instructions": "How good?", "criteria": ["bad", "fair", "good"]},
}


@pytest.fixture
def with_template(tmp_path: Path) -> Callable[[str], Tokenizer]:
    def make(template: str) -> Tokenizer:
        tiny_model.make_tokenizer(tmp_path)
        (tmp_path / "chat_template.jinja").write_text(template)
        return load(tmp_path)

    return make


@pytest.fixture
def tokenizer(with_template: Callable[[str], Tokenizer]) -> Tokenizer:
    return with_template(tiny_model.CHAT_TEMPLATE)


def decision(strategy: NextTokenStrategy, state: Any = "x", **more: Any) -> Decision:
    return Decision(state, parse_questions(SPEC, strategy.limits), **more)


def test_reads_are_the_rendered_prompts_with_their_labels(tokenizer: Tokenizer) -> None:
    strategy = NextTokenStrategy(tokenizer, 512)
    reads = strategy.reads(decision(strategy, {"n": "ä"}, instructions="Be fair."))
    assert [read.question.id for read in reads] == ["letter", "late", "rank"]
    assert tokenizer.decode(reads[0].prompt) == (
        '<|im_start|>system\nBe fair.<|im_end|>\n<|im_start|>user\n{"n": "ä"}\n\nQuestion: Which?\nA: a - first\nB: b\n'
        "C: c\nAnswer with the letter of one option only.<|im_end|>\n<|im_start|>assistant\n"
    )
    spoken = [[tokenizer.decode(list(group)) for group in read.groups] for read in reads]
    assert spoken == [["A", "B", "C"], ["yes", "no"], ["0", "1", "2"]]
    for read in reads:
        text = tokenizer.decode(read.prompt)
        for label, (token,) in zip(read.question.labels, read.groups, strict=True):
            assert tokenizer.encode(text + label, add_special_tokens=False) == [*read.prompt, token]
    sampling = reads[1].sampling()
    assert (sampling.max_tokens, sampling.temperature, sampling.logprob_token_ids) == (1, 0.0, reads[1].ids)


def test_the_real_model_can_decide(smollm2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPLIANCE_CACHE", str(tmp_path))
    tokenizer = load(smollm2)
    strategy = NextTokenStrategy(tokenizer, 8192)
    for read in strategy.reads(decision(strategy)):
        assert [tokenizer.token(token) for token in read.ids] == list(read.question.labels)


def test_a_tail_that_swallows_a_label_is_refused(with_template: Callable[[str], Tokenizer]) -> None:
    ending = "<|im_start|>assistant: "
    tokenizer = with_template(tiny_model.CHAT_TEMPLATE.replace("<|im_start|>assistant\n", ending))
    assert tokenizer.token(tokenizer.encode(": yes")[-1]) == "Ġyes"
    with pytest.raises(UnavailableError, match=r'label "yes" of noul questions is not one .* ends in .assistant: .'):
        NextTokenStrategy(tokenizer, 512)


def test_labels_of_two_tokens_are_refused(tmp_path: Path) -> None:
    from tokenizers import Tokenizer as Backend
    from tokenizers import decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Backend(models.BPE({character: i for i, character in enumerate(alphabet)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "chat_template.jinja").write_text("{{ messages[-1].content }}:")
    with pytest.raises(UnavailableError, match='the label "yes" of noul questions is not one token'):
        NextTokenStrategy(load(tmp_path), 512)


def test_a_model_without_template_cannot_decide(tmp_path: Path) -> None:
    tiny_model.make_tokenizer(tmp_path)
    for path in tmp_path.glob("chat_template.jinja"):
        path.unlink()
    (tmp_path / "tokenizer_config.json").write_text("{}")
    with pytest.raises(UnavailableError, match="no chat template"):
        NextTokenStrategy(load(tmp_path), 512)


def test_a_template_that_refuses_the_probe(with_template: Callable[[str], Tokenizer]) -> None:
    with pytest.raises(UnavailableError, match="needs a system message"):
        NextTokenStrategy(with_template("{{ raise_exception('needs a system message') }}"), 512)


THINKING = tiny_model.CHAT_TEMPLATE.replace(
    "assistant\n{% endif %}",
    "assistant\n{% if enable_thinking %}ponder {% endif %}{% if style %}{{ style }}{% endif %}{% endif %}",
)


def test_thinking_must_stay_off(with_template: Callable[[str], Tokenizer]) -> None:
    strategy = NextTokenStrategy(with_template(THINKING), 512)
    for value in (True, 1, "yes"):
        with pytest.raises(DecisionError, match="enable_thinking must be off") as caught:
            strategy.reads(decision(strategy, template_kwargs={"enable_thinking": value}))
        assert caught.value.param == "chat_template_kwargs"
    assert strategy.reads(decision(strategy, template_kwargs={"enable_thinking": False, "other": 1}))


def test_chat_options_that_end_the_prompt_otherwise(with_template: Callable[[str], Tokenizer]) -> None:
    strategy = NextTokenStrategy(with_template(THINKING), 512)
    with pytest.raises(DecisionError, match="end the prompt differently") as caught:
        strategy.reads(decision(strategy, template_kwargs={"style": "Briefly: "}))
    assert caught.value.param == "chat_template_kwargs"


@pytest.mark.parametrize("name", ["messages", "self", "tools", "add_generation_prompt", "tokenize"])
def test_chat_options_cannot_replace_the_request(name: str, tokenizer: Tokenizer) -> None:
    strategy = NextTokenStrategy(tokenizer, 512)
    with pytest.raises(DecisionError, match=f"{name} cannot be set this way"):
        strategy.reads(decision(strategy, template_kwargs={name: []}))


def test_one_token_must_fit_behind_the_prompt(tokenizer: Tokenizer) -> None:
    roomy = NextTokenStrategy(tokenizer, 512)
    longest = max(len(read.prompt) for read in roomy.reads(decision(roomy)))
    fitting = NextTokenStrategy(tokenizer, longest + 1)
    assert len(fitting.reads(decision(fitting))) == 3
    tight = NextTokenStrategy(tokenizer, longest)
    with pytest.raises(DecisionError, match=f"has {longest} tokens, the context holds {longest}") as caught:
        tight.reads(decision(tight))
    assert caught.value.param == "state"


def test_a_huge_state_is_refused_before_it_is_encoded(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = NextTokenStrategy(tokenizer, 512)
    huge = decision(strategy, "river " * 100_000)
    monkeypatch.setattr(Tokenizer, "encode", lambda *_, **__: pytest.fail("it was encoded"))
    with pytest.raises(DecisionError, match=r"has at least \d+ tokens, the context holds 512"):
        strategy.reads(huge)


def test_answers_are_the_softmax_over_the_labels(tokenizer: Tokenizer) -> None:
    strategy = NextTokenStrategy(tokenizer, 512)
    letter, late, rank = strategy.reads(decision(strategy))
    logits = np.random.default_rng(0).normal(size=(3, 512)) * 3
    logprobs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    verdicts = []
    for row, read in zip(logprobs, (letter, late, rank), strict=True):
        top = int(row.argmax())
        verdicts.append(read.verdict(TokenLogprobs(top, row[top], 1, list(read.ids), row[list(read.ids)].tolist())))
        shares = np.exp(row[list(read.ids)])
        assert verdicts[-1].label_mass == pytest.approx(shares.sum())
        assert list(verdicts[-1].answer["probabilities"].values()) == pytest.approx(list(shares / shares.sum()))
        assert verdicts[-1].answer["confidence"] == pytest.approx(shares.max())
        assert verdicts[-1].argmax_is_label == (top in read.ids)
    choice, noul, score = (verdict.answer for verdict in verdicts)
    assert list(choice) == ["type", "choice", "probabilities", "confidence"]
    assert choice["choice"] == max(choice["probabilities"], key=choice["probabilities"].get)
    assert noul["noul"] == noul["probabilities"]["yes"]
    assert list(noul["probabilities"]) == ["yes", "no"]
    assert score["legend"] == {"0": "bad", "1": "fair", "2": "good"}
    assert score["score"] == pytest.approx(score["probabilities"]["1"] + 2 * score["probabilities"]["2"])


def test_far_away_probabilities_stay_numbers(tokenizer: Tokenizer) -> None:
    strategy = NextTokenStrategy(tokenizer, 512)
    late = strategy.reads(decision(strategy))[1]
    verdict = late.verdict(TokenLogprobs(late.ids[0], -1e-9, 1, list(late.ids), [-1000.0, -3000.0]))
    assert verdict.answer["probabilities"] == {"yes": 1.0, "no": 0.0}
    assert verdict.label_mass == 0.0 and verdict.answer["confidence"] == 0.0
    even = late.verdict(TokenLogprobs(5, -1.0, 1, list(late.ids), [-2.0, -2.0]))
    assert even.answer["noul"] == 0.5 and not even.argmax_is_label
    assert math.isclose(even.label_mass, 2 * math.exp(-2))
