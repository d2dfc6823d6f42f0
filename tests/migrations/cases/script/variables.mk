export VLLM_USE_V1 := 1
VLLM_ATTENTION_BACKEND=XFORMERS
export VLLM_ATTENTION_BACKEND
MODEL = org/chat
PY ?= python3
ARGS := --swap-space 4 \
        --max-model-len 4096 \
        --disable-log-requests
.PHONY: serve
serve: deps ## run
	$(PY) -m vllm.entrypoints.openai.api_server --model $(MODEL) $(ARGS) --hf-overrides '{"a": 3}'
box:
	@docker run --rm -e VLLM_USE_V1=1 vllm/vllm-openai:v0.8.5 --model $(MODEL) \
	  --swap-space 4 # goes
loop:
	for m in a b; do vllm serve $$m --swap-space 3 & done; echo $@
