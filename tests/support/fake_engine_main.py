"""An engine process whose model is the fake runner. `FAKE_STEP_SECONDS` slows it, `FAKE_BUILD` makes the boot fail."""

import os
import sys
import time
from collections.abc import Callable

from fake_runner import EOS, VOCAB, FakeRunner

from appliance.engine.checkpoint.config import ModelConfig, RopeConfig
from appliance.engine.checkpoint.errors import CheckpointError
from appliance.engine.config import EngineConfig
from appliance.engine.core.types import ScheduledRequest, StepOutput
from appliance.engine.main import main

POISON = [66, 66]
"""A prompt that starts like this makes its step raise."""

MODEL = ModelConfig(
    architecture="FakeForCausalLM",
    vocab_size=VOCAB,
    hidden_size=8,
    intermediate_size=8,
    num_layers=1,
    num_heads=1,
    num_kv_heads=1,
    head_dim=8,
    max_positions=4096,
    rms_norm_eps=1e-5,
    rope=RopeConfig(),
    eos_token_ids=(EOS,),
)


class SlowRunner(FakeRunner):
    seconds = float(os.environ.get("FAKE_STEP_SECONDS", "0"))

    def step(self, scheduled: list[ScheduledRequest]) -> list[StepOutput]:
        if any(share.start and share.start.token_ids[:2] == POISON for share in scheduled):
            raise RuntimeError("poisoned prompt")
        time.sleep(self.seconds)
        outputs = super().step(scheduled)
        self.steps.clear()
        return outputs


def build(config: EngineConfig, end_stage: Callable[[str], None]) -> tuple[FakeRunner, ModelConfig, str]:
    if os.environ.get("FAKE_BUILD") == "checkpoint":
        raise CheckpointError(config.model_path, "the file ends after 12 of 400 bytes", "fetch it again")
    runner = SlowRunner.of(config)
    # The limits change while the process runs, which nobody tells a runner.
    runner.max_batch_tokens = runner.max_sequences = sys.maxsize
    end_stage("load weights")
    return runner, MODEL, "fake-weights"


if __name__ == "__main__":
    sys.exit(main(build))
