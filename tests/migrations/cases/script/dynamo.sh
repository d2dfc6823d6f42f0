#!/bin/bash
MODEL=org/Small
python -m dynamo.frontend --router-mode kv &
CUDA_VISIBLE_DEVICES=0 python3 -m dynamo.vllm --model $MODEL --enforce-eager --disable-log-requests --connector nixl &
CUDA_VISIBLE_DEVICES=1 VLLM_USE_V1=1 python3 -m dynamo.vllm \
    --model $MODEL \
    --swap-space 4 \
    --is-prefill-worker
