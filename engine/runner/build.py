"""From an EngineConfig to a runner that has its weights and its pool."""

from collections.abc import Callable

import torch

from appliance.engine.checkpoint import read
from appliance.engine.checkpoint.config import ModelConfig
from appliance.engine.config import EngineConfig
from appliance.engine.load import load_model
from appliance.engine.runner.runner import PagedRunner
from appliance.kernels.cpu.library import library


def build_runner(
    config: EngineConfig, stage: Callable[[str], None], progress: Callable[[int, int], None] | None = None
) -> tuple[PagedRunner, ModelConfig, str]:
    """Runner, model description, weight fingerprint. `stage` is called as each named stage ends. CheckpointError."""
    if config.threads:
        torch.set_num_threads(config.threads)
    torch.set_grad_enabled(False)
    library()
    stage("CPU kernels")
    checkpoint = read(config.model_path)
    stage("read checkpoint")
    model, fingerprint = load_model(checkpoint, getattr(torch, config.dtype), progress)
    stage("load weights")
    runner = PagedRunner(config, model)
    stage("reserve KV pool")
    return runner, checkpoint.config, fingerprint
