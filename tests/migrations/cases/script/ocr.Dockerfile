FROM vllm/vllm-openai:latest
ENV VLLM_ALLOW_LONG_MAX_MODEL_LEN=1
HEALTHCHECK --interval=30s \
  CMD curl -f http://localhost:8000/health || exit 1
ENTRYPOINT ["python3", "-m", "vllm.entrypoints.openai.api_server"]
CMD ["--model", "org/ocr", \
     "--logits-processors", "mine:Processor", \
     "--disable-log-requests", \
     "--enable-prefix-caching=False", \
     "--mm-processor-cache-gb", "0", \
     "--trust-remote-code"]
