#!/bin/bash
vllm serve org/chat \
  --swap-space 4 \
  --max-model-len 4096 \
  --disable-log-requests
echo done
