"""The real engine without its process: requests in, every update out, books checked when it idles."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from appliance.engine.config import EngineConfig
from appliance.engine.core.engine import Engine
from appliance.engine.protocol import Request, SamplingParams, Update
from appliance.engine.runner.build import build_runner

OWNER = b"test"


class InProcess:
    """`settings` override an EngineConfig fit for small models in float32."""

    def __init__(self, model: Path, **settings: Any) -> None:
        defaults: dict[str, Any] = {
            "address": "ipc://unused",
            "model_path": str(model),
            "dtype": "float32",
            "kv_dtype": "float32",
            "block_tokens": 16,
            "num_blocks": 256,
            "max_context": 512,
            "max_sequences": 32,
            "max_batch_tokens": 512,
        }
        config = EngineConfig(**defaults | settings)
        self.runner, self.model, self.fingerprint = build_runner(config, lambda stage: None)
        self.engine = Engine(config, self.runner, self.model.vocab_size, self.model.eos_token_ids)

    def run(self, requests: Sequence[Request], submit_every: int = 0) -> dict[str, list[Update]]:
        """All updates by request id. `submit_every` n: one request joins every n steps instead of all at once."""
        updates: dict[str, list[Update]] = {request.request_id: [] for request in requests}
        waiting = list(requests)
        steps = 0
        while waiting or self.engine.has_work:
            joining = len(waiting) if not submit_every else int(steps % submit_every == 0)
            for refused in self.engine.add(OWNER, waiting[:joining]):
                updates[refused.request_id].append(refused)
            waiting = waiting[joining:]
            for update in self.engine.step().get(OWNER, []):
                updates[update.request_id].append(update)
            steps += 1
        self.engine.check_integrity()
        return updates

    def tokens(self, requests: Sequence[Request], submit_every: int = 0) -> dict[str, list[int]]:
        return {
            request_id: [token for update in got for token in update.token_ids]
            for request_id, got in self.run(requests, submit_every).items()
        }


def greedy(request_id: str, prompt: Sequence[int], max_tokens: int = 64, **settings: Any) -> Request:
    sampling = SamplingParams(max_tokens=max_tokens, temperature=0.0, ignore_eos=True, **settings)
    return Request(request_id=request_id, prompt=list(prompt), sampling=sampling)
