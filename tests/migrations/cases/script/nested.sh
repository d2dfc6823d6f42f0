CMD="vllm serve $MODEL --swap-space 4"
CMD="$CMD --disable-log-requests"
CMD+=" --max-model-len ${LEN:-4096}"
eval $CMD
tmux new-session -d -s a "VLLM_USE_V1=1 vllm serve m1 --swap-space 4 --hf-overrides '{\"a\": 2.0}'"
ssh host 'cd /x && nohup python3 -u -m vllm.entrypoints.openai.api_server --model=m2 --enable-chunked-prefill=False > log 2>&1 &'
RUN=(uv run --with vllm==0.8.5 vllm serve m3
  --use-v2-block-manager
  --port 1)
"${RUN[@]}" --swap-space 5 --api-key k
for m in a b; do vllm serve $m --disable-log-requests & done
srun --gres=gpu:8 apptainer exec --nv x.sif vllm serve m4 --num-lookahead-slots 3 && echo vllm serve x --swap-space 1
time vllm serve m5 --speculative-model d --num-speculative-tokens $N 2>&1 | tee log
VLLM_USE_V1=1 \
VLLM_LOGGING_LEVEL=INFO \
  vllm serve m6 \
  --swap-space 3
podman run --env=VLLM_USE_V1=1 --device nvidia.com/gpu=all --entrypoint bash docker.io/vllm/vllm-openai:v0.10.0 -c "vllm serve m7 --swap-space 4"
