"""What a request with an adapter gets is what the model gives whose weights the adapter was merged into."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from in_process import InProcess, greedy
from lora_files import ALL, ATTENTION, merged, write_adapter
from msgspec import structs

from appliance.engine.protocol import Request

TOKENS = 32
# Where two logits lie closer than this, either order is right: float32 sums in another order differ by as much.
NEAR_TIE = 2e-4
# Largest error of a log-probability in bfloat16 against the merged model in float32. 0.20 was measured on a CPU with
# avx512_bf16, where the base model without any adapter has 0.14.
BFLOAT16_BOUND = 0.4


def prompts(count: int, seed: int = 3) -> list[list[int]]:
    source = random.Random(seed)
    return [[source.randrange(5, 500) for _ in range(source.randrange(3, 60))] for _ in range(count)]


def asking(name: str, prompt: list[int], adapter: str | None, **settings: Any) -> Request:
    return structs.replace(greedy(name, prompt, TOKENS, **settings), adapter=adapter)


@torch.inference_mode()
def check(reference: Any, prompt: list[int], tokens: list[int]) -> None:
    """Every token is the argmax given those before it."""
    assert len(tokens) == TOKENS
    logits = reference(torch.tensor([prompt + tokens[:-1]])).logits[0, len(prompt) - 1 :]
    chosen = logits.gather(1, torch.tensor(tokens).unsqueeze(1)).squeeze(1)
    worst = float((logits.max(-1).values - chosen).max())
    assert worst <= NEAR_TIE, f"a token lies {worst} below the argmax"


@torch.inference_mode()
def logprobs(reference: Any, tokens: list[int], start: int) -> torch.Tensor:
    """Of tokens[start:], given those before."""
    logits = reference(torch.tensor([tokens])).logits[0, start - 1 : -1]
    return torch.log_softmax(logits, -1).gather(1, torch.tensor(tokens[start:]).unsqueeze(1)).squeeze(1)


class Case:
    """A model with three adapters of different shape, and the truth of each."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.model = model
        self.folders = {
            "all": write_adapter(folder / "all", model, ALL, rank=4, alpha=8.0),
            "attention": write_adapter(
                folder / "attention", model, ATTENTION, rank=1, alpha=3.0, seed=2, use_rslora=True
            ),
            "patterns": write_adapter(
                folder / "patterns",
                model,
                ("q_proj", "v_proj", "down_proj"),
                rank=6,
                alpha=6.0,
                seed=3,
                ranks={"v_proj": 3},
                alpha_pattern={"down_proj": 15.0, "self_attn.v_proj": 9.0},
                dtype=torch.bfloat16,
            ),
        }
        scales: dict[str, Any] = {
            "all": 2.0,
            "attention": 3.0,
            "patterns": {"q_proj": 1.0, "v_proj": 3.0, "down_proj": 2.5},
        }
        self.references = {name: merged(model, self.folders[name], scales[name]) for name in self.folders}
        self.references[None] = merged(model, None, 0.0)

    def engine(self, **settings: Any) -> InProcess:
        engine = InProcess(self.model, **settings)
        for name, folder in self.folders.items():
            engine.engine.adapters.load(name, str(folder))
        return engine


@pytest.fixture(scope="module", params=["llama", "qwen2", "qwen3", "gemma3"])
def case(request: pytest.FixtureRequest, tiny_model: Any, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tiny_model(request.param), tmp_path_factory.mktemp("adapters"))


def test_alone(case: Case) -> None:
    engine = case.engine()
    texts = prompts(3)
    answers = set()
    for name, reference in case.references.items():
        for prompt in texts:
            tokens = engine.tokens([asking("0", prompt, name)])["0"]
            check(reference, prompt, tokens)
            answers.add(tuple(tokens))
    assert len(answers) > 3 * len(texts), "the adapters change little: this proves nothing"


@pytest.mark.parametrize(
    "settings", [{}, {"max_batch_tokens": 19}, {"num_blocks": 24}, {"prefix_caching": False}], ids=str
)
def test_mixed_with_others_and_the_base_model(case: Case, settings: dict[str, Any]) -> None:
    names = list(case.references)
    asked = [(prompt, names[index % 4]) for index, prompt in enumerate(prompts(12))]
    engine = case.engine(**settings)
    requests = [asking(str(index), prompt, name) for index, (prompt, name) in enumerate(asked)]
    tokens = engine.tokens(requests, submit_every=2)
    for index, (prompt, name) in enumerate(asked):
        check(case.references[name], prompt, tokens[str(index)])
    assert ("num_blocks" in settings) == (engine.engine.stats().preemptions > 0)


def test_one_prompt_for_all_shares_no_cached_block_across_adapters(case: Case) -> None:
    engine = case.engine()
    prompt = prompts(1)[0] * 3
    for _ in range(2):
        requests = [asking(str(name), prompt, name) for name in case.references]
        tokens = engine.tokens(requests)
        for name, reference in case.references.items():
            check(reference, prompt, tokens[str(name)])
    assert engine.engine.stats().prefix_hits == 4 * ((len(prompt) - 1) // 16 * 16)


def test_log_probabilities_of_prompt_and_answer(case: Case) -> None:
    engine = case.engine()
    prompt = prompts(1, seed=9)[0] + prompts(1, seed=10)[0]
    requests = [asking(str(name), prompt, name, logprobs=0, prompt_logprobs=0) for name in case.references]
    for name, updates in zip(case.references, engine.run(requests).values(), strict=True):
        tokens = prompt + [token for update in updates for token in update.token_ids]
        reports = [entry for entry in updates[0].prompt_logprobs or [] if entry]
        reports += [entry for update in updates for entry in update.logprobs or []]
        got = torch.tensor([entry.logprob for entry in reports])
        torch.testing.assert_close(got, logprobs(case.references[name], tokens, 1), atol=2e-4, rtol=0)


def test_bfloat16_stays_near_the_truth(case: Case) -> None:
    """Packed products in bfloat16, measured on what the engine itself wrote."""
    engine = case.engine(dtype="bfloat16", kv_dtype="bfloat16")
    asked = [(name, prompt) for name in case.references for prompt in prompts(3)]
    got = engine.run([asking(str(index), prompt, name, logprobs=0) for index, (name, prompt) in enumerate(asked)])
    for index, (name, prompt) in enumerate(asked):
        updates = got[str(index)]
        tokens = prompt + [token for update in updates for token in update.token_ids]
        reported = torch.tensor([entry.logprob for update in updates for entry in update.logprobs or []])
        truth = logprobs(case.references[name], tokens, len(prompt))
        torch.testing.assert_close(reported, truth, atol=BFLOAT16_BOUND, rtol=0)


def test_a_lone_request_s_numbers_do_not_depend_on_its_company(case: Case) -> None:
    prompt = prompts(1, seed=4)[0]
    own = asking("own", prompt, "all", logprobs=0)
    company = [asking(str(index), text, [*case.references][index % 4]) for index, text in enumerate(prompts(7, seed=5))]
    alone, crowded = case.engine().run([own])["own"], case.engine().run([*company[:3], own, *company[3:]])["own"]
    for one, other in zip(alone, crowded, strict=True):
        assert one.token_ids == other.token_ids
        assert (one.logprobs or [])[0].logprob == pytest.approx((other.logprobs or [])[0].logprob, abs=2e-4)
