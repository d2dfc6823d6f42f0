"""Plans for backend vllm: a command line instead of an EngineConfig. What vLLM decides better itself is left to it."""

from .make import make_vllm_plan

__all__ = ["make_vllm_plan"]
