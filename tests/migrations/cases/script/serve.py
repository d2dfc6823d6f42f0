import os
import subprocess

from ray.serve.llm import LLMConfig
from vllm import LLM, AsyncEngineArgs

os.environ["VLLM_USE_V1"] = "0"
config = LLMConfig(
    engine_kwargs=dict(tensor_parallel_size=1, swap_space=4),
    runtime_env={"env_vars": {"VLLM_ATTENTION_BACKEND": "XFORMERS"}},
)
llm = LLM("org/é", swap_space=4, compilation_config={"full_cuda_graph": True, "level": level}, max_model_len=limit)
command = ["vllm", "serve", model, "--swap-space", "4", f"--max-model-len={limit}"]
subprocess.run(f"vllm serve {model} --disable-log-requests " "--swap-space 3", shell=True)
"""vllm serve is only spoken of here"""
