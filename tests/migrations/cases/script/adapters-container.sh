docker run -it --name tuned --rm --gpus='"device=0"' --ipc=host \
           -v $(pwd):/work -p 8001:8001 \
           -e NCCL_P2P_DISABLE=1 -e NCCL_SHM_DISABLE=1 \
           vllm/vllm-openai:v0.7.2 \
           --model /work/base \
           --lora-modules grpo=/work/lora/checkpoint-1 \
           --max_model_len 8096
