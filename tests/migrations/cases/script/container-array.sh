#!/bin/bash
HF_TOKEN=$(cat ~/.huggingface/token)
docker_args=(
    --name t \
    --gpus all \
    #--network="host" \
    -p 5000:5000 \
    -e HUGGING_FACE_HUB_TOKEN=$HF_TOKEN \
    vllm/vllm-openai:v0.9.2 \
    --model org/m \
    --max-num-seqs 4 \
    #--max-model-len 8192 \
    --swap-space 4 \
    --port 5000
)
docker run -d "${docker_args[@]}"
ARGS=(--gpus all -e VLLM_USE_V1=1)
ARGS+=(-p 1:1)
docker run "${ARGS[@]}" vllm/vllm-openai:v0.9.0 --model m --swap-space 4
RUN=(--rm -e VLLM_USE_V1=1 vllm/vllm-openai:v0.9.0 --model m --port 1)
RUN+=(--swap-space 4)
docker run -d "${RUN[@]}"
export VLLM_ATTENTION_BACKEND=FLASHINFER VLLM_USE_V1=1
docker run $DOCKER_OPTIONS -e VLLM_USE_V1 vllm/vllm-openai:v0.9.0 --model m --swap-space 4
docker run vllm/vllm-openai:v0.9.0 sh -c "vllm serve m --swap-space 4"
