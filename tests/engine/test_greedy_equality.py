"""Greedy tokens equal those of Transformers in float32: alone, batched, chunked, after cache hits and preemption.

The reference reads prompt and answer in one forward pass; every token must be the argmax given those before it, which
is what greedy decoding means.
"""

import random
from pathlib import Path

import pytest
import torch
from in_process import InProcess, greedy

from appliance.engine.layers.ops import EagerOps

ARCHITECTURES = ("llama", "mistral", "qwen2", "qwen3", "gemma3")
PROMPTS = 20
TOKENS = 64
# Where two logits lie closer than this, either order is right: float32 sums in another order differ by as much.
NEAR_TIE = 1e-4


class Reference:
    """The same weights in Transformers."""

    def __init__(self, path: Path) -> None:
        from transformers import AutoModelForCausalLM

        where = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
        folder = path.parent if where else path
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **where).eval()

    @torch.inference_mode()
    def check(self, prompt: list[int], tokens: list[int]) -> None:
        assert len(tokens) == TOKENS
        logits = self.model(torch.tensor([prompt + tokens[:-1]])).logits[0, len(prompt) - 1 :]
        best = logits.max(-1).values
        chosen = logits.gather(1, torch.tensor(tokens).unsqueeze(1)).squeeze(1)
        worst = float((best - chosen).max())
        assert worst <= NEAR_TIE, f"a token lies {worst} below the argmax"


def prompts(vocabulary: int, count: int = PROMPTS) -> list[list[int]]:
    source = random.Random(3)
    return [[source.randrange(5, vocabulary) for _ in range(source.randrange(3, 90))] for _ in range(count)]


def check_all(reference: Reference, asked: list[list[int]], got: dict[str, list[int]]) -> None:
    for index, prompt in enumerate(asked):
        reference.check(prompt, got[str(index)])


@pytest.fixture(scope="module", params=ARCHITECTURES)
def random_model(request, tiny_model) -> tuple[Path, Reference]:
    path = tiny_model(request.param)
    return path, Reference(path)


def test_alone(random_model):
    path, reference = random_model
    engine = InProcess(path)
    for prompt in prompts(500):
        reference.check(prompt, engine.tokens([greedy("0", prompt, TOKENS)])["0"])


def test_in_one_batch(random_model):
    path, reference = random_model
    asked = prompts(500)
    check_all(reference, asked, InProcess(path).tokens([greedy(str(i), p, TOKENS) for i, p in enumerate(asked)]))


def test_joining_a_running_batch(random_model):
    path, reference = random_model
    asked = prompts(500)
    requests = [greedy(str(i), p, TOKENS) for i, p in enumerate(asked)]
    check_all(reference, asked, InProcess(path).tokens(requests, submit_every=5))


def test_over_chunk_boundaries(random_model):
    path, reference = random_model
    asked = prompts(500)
    engine = InProcess(path, max_batch_tokens=37)
    check_all(reference, asked, engine.tokens([greedy(str(i), p, TOKENS) for i, p in enumerate(asked)]))


def test_after_prefix_cache_hits(random_model):
    path, reference = random_model
    shared = prompts(500, 1)[0] * 3
    asked = [shared + prompt for prompt in prompts(500)]
    engine = InProcess(path)
    requests = [greedy(str(i), p, TOKENS) for i, p in enumerate(asked)]
    check_all(reference, asked, engine.tokens(requests))
    check_all(reference, asked, engine.tokens(requests))
    assert engine.engine.stats().prefix_hits >= sum(len(prompt) // 16 * 16 for prompt in asked) - 16 * len(asked)


def test_after_preemption(random_model):
    path, reference = random_model
    asked = prompts(500)
    engine = InProcess(path, num_blocks=40)
    check_all(reference, asked, engine.tokens([greedy(str(i), p, TOKENS) for i, p in enumerate(asked)]))
    assert engine.engine.stats().preemptions > 0


def test_without_compiled_kernels(random_model, monkeypatch):
    """A machine without a compiler: PyTorch's operations serve, joining, chunked and preempted."""
    monkeypatch.setattr("appliance.engine.layers.ops.compiled.library", lambda: None)
    monkeypatch.setattr("appliance.engine.layers.compiled_product._functions", lambda _: None)
    path, reference = random_model
    asked = prompts(500)
    engine = InProcess(path, max_batch_tokens=37, num_blocks=40)
    assert isinstance(engine.runner.model.ops, EagerOps)
    check_all(reference, asked, engine.tokens([greedy(str(i), p, TOKENS) for i, p in enumerate(asked)], submit_every=2))
    assert engine.engine.stats().preemptions > 0


@pytest.mark.parametrize("architecture", ["llama", "gemma3"])
@pytest.mark.parametrize("block_tokens", [1, 8, 64])
def test_any_block_size(tiny_model, architecture, block_tokens):
    path = tiny_model(architecture)
    asked = prompts(500, 4)
    engine = InProcess(path, block_tokens=block_tokens, num_blocks=2048 // block_tokens)
    got = engine.tokens([greedy(str(i), p, TOKENS) for i, p in enumerate(asked)])
    check_all(Reference(path), asked, got)


@pytest.fixture(scope="module")
def real_model(smollm2) -> tuple[Path, Reference, list[list[int]]]:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(smollm2.parent, gguf_file=smollm2.name)
    topics = (
        "rivers bread chess rust copper planets bees poetry glass taxes owls maps tea salt bridges ink moss jazz "
        "clay wind"
    )
    texts = [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": f"Explain {topic} to a {reader} in a few sentences."}],
            add_generation_prompt=True,
            tokenize=False,
        )
        for topic, reader in zip(topics.split(), ["child", "sailor", "judge", "cook"] * 5, strict=True)
    ]
    return smollm2, Reference(smollm2), [tokenizer(text)["input_ids"] for text in texts]


@pytest.mark.timeout(600)
def test_smollm2_alone(real_model):
    path, reference, asked = real_model
    engine = InProcess(path)
    for prompt in asked:
        reference.check(prompt, engine.tokens([greedy("0", prompt, TOKENS)])["0"])


@pytest.mark.timeout(600)
def test_smollm2_mixed_chunked_cached_and_preempted(real_model):
    path, reference, asked = real_model
    requests = [greedy(str(i), p, TOKENS) for i, p in enumerate(asked)]
    engine = InProcess(path, max_batch_tokens=50, num_blocks=90)
    check_all(reference, asked, engine.tokens(requests, submit_every=2))
    check_all(reference, asked, engine.tokens(requests))
    stats = engine.engine.stats()
    assert stats.preemptions > 0 and stats.prefix_hits > 0
