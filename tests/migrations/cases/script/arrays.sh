#!/usr/bin/env bash
IMAGE=vllm/vllm-openai:v0.9.1
MODEL="org/chat"
KV=fp8_e5m2
ARGS=(
  --model "$MODEL"
  --swap-space 4          # goes with its option
  # stays
  --max-model-len 4096    # stays too
  --disable-log-requests
)
if [[ -n "${OLD:-}" ]]; then
  export VLLM_USE_V1=1
fi
if [ "$TP" -gt 1 ]; then ARGS+=(--tensor-parallel-size "$TP" --num-scheduler-steps 8); fi
EXTRA="--enforce-eager --swap-space 2"
EXTRA="$EXTRA --guided-decoding-backend outlines"
docker run --gpus all \
    -e VLLM_USE_V1=1 \
    -e HF_TOKEN=$HF_TOKEN \
    -e VLLM_ATTENTION_BACKEND=FLASHINFER \
    $IMAGE \
    "${ARGS[@]}" $EXTRA \
    --kv-cache-dtype $KV
