# syntax=docker/dockerfile:1
ARG VERSION=0.8.5
FROM vllm/vllm-openai:v${VERSION} AS base
ENV VLLM_USE_V1=1 \
    # why
    VLLM_ATTENTION_BACKEND=FLASHINFER \
    HF_HOME="/a b"
ENV VLLM_LOGGING_LEVEL DEBUG
CMD ["--model", "x", "--swap-space", "4", "--hf-overrides", "{\"a\": 2.0}"]
FROM base
RUN pip install \
    'vllm==0.9.0'
ENTRYPOINT ["/bin/bash", "-c", "vllm serve m --swap-space 4 --hf-overrides '{\"a\": \"b\"}'"]
FROM python:3.12
ENTRYPOINT vllm serve x \
   # stays
   --swap-space 4 \
   --port 80
FROM vllm/vllm-openai
ENTRYPOINT ["vllm", "serve"]
CMD ["m", "--swap-space=4"]
