#!/usr/bin/env bash
set -euo pipefail
MODEL=/srv/models/awq
exec env CUDA_VISIBLE_DEVICES=1 VLLM_ALLOW_RUNTIME_LORA_UPDATING=True vllm serve "$MODEL" \
  --host 127.0.0.1 --port 8001 \
  --guided-decoding-backend lm-format-enforcer \
  --enable-lora --max-loras 4 --max-lora-rank 64 \
  --enforce-eager
