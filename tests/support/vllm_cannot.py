"""What a CPU build of vLLM cannot build config classes for, and why; everything else has to be built.

Patterns of the error that then comes, each with the reason. One that meets nothing any more fails the tests.
"""

CANNOT = {
    r"Failed to import Ray": "Ray is no part of the CPU build",
    r"Sleep mode is not supported on current platform": "sleep mode needs a GPU's virtual memory",
    r"Expert parallelism load balancing is only supported on": "balancing of experts needs GPUs",
    r"num_redundant_experts is set to \d+ but EPLB is not enabled": "redundant experts need that balancing",
    r"Unsupported connector type: SomebodysConnector": "a connector that a plugin brings",
    r"Failed to load mistral 'params.json'": "needs a checkpoint in Mistral's own format",
    r"Cannot find the config file for inc": "this quantization is described by a file of the checkpoint",
    r"tp_size=\d+ must be divisible by dcp_size": "its example stands alone, without the devices it divides",
    r"EngramConfig requires a model with": "needs a model with n-gram embeddings",
}
