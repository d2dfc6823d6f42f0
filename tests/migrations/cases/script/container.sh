#!/bin/bash
docker run -d --gpus=all --name chat \
  -v /models:/models -p 8000:8000 --cpuset-cpus 0-7 --restart always \
  vllm/vllm-openai:v0.8.5 \
  --model /models/small \
  --dtype half \
  --block-size 32 \
  --enable-chunked-prefill \
  --swap-space 16 \
  --tokenizer-pool-size 56 \
  --disable-custom-all-reduce
