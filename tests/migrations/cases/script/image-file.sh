#!/bin/bash
#SBATCH --gres=gpu:2
apptainer run --nv --bind /data:/data --env VLLM_USE_V1=1 images/vllm-openai_v0.8.3.sif --model /data/m --swap-space 4
singularity instance run docker://vllm/vllm-openai:v0.8.3 chat --model /data/m --disable-log-requests
apptainer run other-tool.sif --model /data/m --swap-space 4
