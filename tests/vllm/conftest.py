"""These tests ask vLLM itself; `make test-vllm` sets it up and names its Python in APPLIANCE_VLLM."""

import os

collect_ignore_glob = [] if "APPLIANCE_VLLM" in os.environ else ["test_*.py"]
