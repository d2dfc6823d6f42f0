start:
	@PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False HF_HOME=$(HF_HOME) \
	$(PYTHON) -m vllm.entrypoints.openai.api_server \
		--model $(MODEL) \
		--host 0.0.0.0 --port $(PORT) \
		--guided-decoding-backend lm-format-enforcer \
		>> $(LOG) 2>&1 & echo $$! > $(PID)
