"""Prefill and decode without HTTP at 1, 8 and 32 sequences: the engine beside Transformers on the same weights."""

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from models import smollm2_folder
from options import Options, parse
from table import Row, compare, publish
from transformers import AutoModelForCausalLM

from appliance.engine.config import EngineConfig
from appliance.engine.core.engine import Engine
from appliance.engine.protocol import Request, SamplingParams
from appliance.engine.runner.build import build_runner

PROMPT, GENERATED = 128, 64
SEQUENCES = (1, 8, 32)
OWNER = b"bench"


@dataclass(frozen=True)
class Speed:
    """Tokens per second."""

    prefill: float
    decode: float


def own_engine(model: Path) -> Callable[[int], Speed]:
    config = EngineConfig(
        address="ipc://unused",
        model_path=str(model),
        dtype="bfloat16",
        kv_dtype="bfloat16",
        block_tokens=16,
        num_blocks=1024,
        max_context=2048,
        max_sequences=32,
        max_batch_tokens=PROMPT * max(SEQUENCES),
        prefix_caching=False,
        threads=os.cpu_count() or 1,
    )
    runner, description, _ = build_runner(config, lambda stage: None)
    engine = Engine(config, runner, description.vocab_size, ())

    def measure(sequences: int) -> Speed:
        sampling = SamplingParams(max_tokens=GENERATED + 1, temperature=0.0, ignore_eos=True)
        prompts = [[random.randrange(100, 40_000) for _ in range(PROMPT)] for _ in range(sequences)]
        start = time.perf_counter()
        engine.add(OWNER, [Request(request_id=str(i), prompt=p, sampling=sampling) for i, p in enumerate(prompts)])
        engine.step()
        first = time.perf_counter()
        while engine.has_work:
            engine.step()
        end = time.perf_counter()
        return Speed(sequences * PROMPT / (first - start), sequences * GENERATED / (end - first))

    return measure


def transformers_model(model: Path) -> Callable[[int], Speed]:
    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.bfloat16).eval()

    @torch.inference_mode()
    def measure(sequences: int) -> Speed:
        ids = torch.randint(100, 40_000, (sequences, PROMPT))
        start = time.perf_counter()
        output = loaded(ids, use_cache=True, logits_to_keep=1)
        token = output.logits[:, -1].argmax(-1, keepdim=True)
        first = time.perf_counter()
        for _ in range(GENERATED):
            output = loaded(token, past_key_values=output.past_key_values, use_cache=True)
            token = output.logits[:, -1].argmax(-1, keepdim=True)
        end = time.perf_counter()
        return Speed(sequences * PROMPT / (first - start), sequences * GENERATED / (end - first))

    return measure


def run(options: Options) -> list[Row]:
    torch.set_num_threads(os.cpu_count() or 1)
    model = smollm2_folder(options.workdir)
    peer, own = transformers_model(model), own_engine(model)
    rows = []
    for sequences in SEQUENCES:
        peer(sequences)
        own(sequences)
        rounds = [(peer(sequences), own(sequences)) for _ in range(options.runs)]
        for phase in ("prefill", "decode"):
            peer_runs = [getattr(first, phase) for first, _ in rounds]
            own_runs = [getattr(second, phase) for _, second in rounds]
            rows.append(compare(f"{phase} x{sequences}, SmolLM2 bf16", "tok/s", "Transformers", peer_runs, own_runs))
    return rows


if __name__ == "__main__":
    publish("engine", run(parse(__doc__)))
