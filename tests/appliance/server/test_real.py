"""The server before the real engine and the real small model, booted by `appliance up`."""

import concurrent.futures
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import httpx
import openai
import pytest
import running

PROFILE = """\
schema: 1
name: real
release: "0.32"
model:
  source: {model}
  served_names: [smollm2]
  max_context: 1024
  dtype: {dtype}
kv_cache: {{size: 256MiB}}
endpoints: {{chat: required, completions: required}}
security: {{bind: 127.0.0.1:0}}
"""
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]


@pytest.fixture(scope="module")
def appliances(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], running.Running]]:
    """By dtype, each booted once."""
    with ExitStack() as stack:

        @cache
        def boot(dtype: str) -> running.Running:
            profile = PROFILE.format(model=smollm2, dtype=dtype)
            return stack.enter_context(running.boot(profile, tmp_path_factory.mktemp(dtype)))

        yield boot


@pytest.fixture
def real(appliances: Callable[[str], running.Running]) -> running.Running:
    """In float32, whose greedy texts are the same on every machine."""
    return appliances("float32")


def connect(appliance: running.Running) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{appliance.base_url}/v1", api_key="none", max_retries=0, timeout=120)


@pytest.fixture
def client(real: running.Running) -> Iterator[openai.OpenAI]:
    with connect(real) as client:
        yield client


def test_a_chat_answers_and_streams_the_same(client: openai.OpenAI) -> None:
    asked = {"model": "smollm2", "messages": QUESTION, "temperature": 0, "max_tokens": 12}
    whole = client.chat.completions.create(**asked)
    assert whole.choices[0].message.content == "The capital of France is Paris."
    assert (whole.choices[0].finish_reason, whole.usage.completion_tokens) == ("stop", 8)
    streamed = client.chat.completions.create(**asked, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in streamed) == whole.choices[0].message.content


def test_a_stop_string_cuts_inside_a_token(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="smollm2", messages=QUESTION, temperature=0, max_tokens=12, stop=["ranc"]
    )
    assert answer.choices[0].message.content == "The capital of F"
    assert answer.choices[0].finish_reason == "stop"


def test_logprobs_of_the_chosen_token_lead(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="smollm2", messages=QUESTION, temperature=0, max_tokens=2, logprobs=True, top_logprobs=3
    )
    for entry in answer.choices[0].logprobs.content:
        assert entry.top_logprobs[0].token == entry.token
        assert [top.logprob for top in entry.top_logprobs] == sorted(
            (t.logprob for t in entry.top_logprobs), reverse=True
        )
        assert bytes(entry.bytes).decode() == entry.token


@pytest.mark.parametrize(("dtype", "noise"), [("float32", 2e-4), ("bfloat16", 1e-5)])
def test_a_seed_gives_the_same_tokens_also_in_company(
    appliances: Callable[[str], running.Running], dtype: str, noise: float
) -> None:
    """`noise` of log-probabilities: in bfloat16 the logits are the same bits, only their sum depends on threads."""

    def write(seed: int) -> tuple[list[str], list[float]]:
        answer = client.completions.create(
            model="smollm2", prompt="Once upon a time", seed=seed, temperature=0.9, max_tokens=24, logprobs=1
        )
        return answer.choices[0].logprobs.tokens, answer.choices[0].logprobs.token_logprobs

    with connect(appliances(dtype)) as client, concurrent.futures.ThreadPoolExecutor(5) as pool:
        alone = [write(1), write(2)]
        together = list(pool.map(write, [1, 2, 3, 4, 5]))
    for (tokens, logprobs), (expected, expected_logprobs) in zip(together, alone, strict=False):
        assert tokens == expected
        assert logprobs == pytest.approx(expected_logprobs, abs=noise)
    assert len({tuple(tokens) for tokens, _ in together}) == 5


def test_clients_that_leave_free_the_engine(real: running.Running) -> None:
    body = {"prompt": "Tell me a long story.", "max_tokens": 900, "ignore_eos": True, "stream": True}
    for _ in range(3):
        with httpx.stream("POST", f"{real.base_url}/v1/completions", json=body, timeout=60) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("data: {")
    running = 'vllm:num_requests_running{engine="0",model_name="smollm2"} 0.0'
    for _ in range(600):
        metrics = httpx.get(f"{real.base_url}/metrics").text
        if running in metrics:
            break
        time.sleep(0.05)
    assert running in metrics
    assert 'vllm:kv_cache_usage_perc{engine="0",model_name="smollm2"} 0.0' in metrics
    assert 'finished_reason="abort",model_name="smollm2"} 3.0' in metrics


def test_a_prompt_over_the_context_is_refused_with_numbers(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match=r"the context holds 1024"):
        client.completions.create(model="smollm2", prompt="word " * 2000)
