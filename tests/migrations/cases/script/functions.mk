EXTRA ?= --limit-mm-per-prompt image=4 --disable-log-requests

run: stop
	docker run -d --name served \
	  vllm/vllm-openai:v0.9.1 \
	  --model "$(MODEL)" --swap-space 4 \
	  $(if $(QUANT),--quantization $(QUANT)) $(EXTRA) \
	  --trust-remote-code
