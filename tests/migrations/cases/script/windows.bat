rem vllm serve old --num-scheduler-steps 8
set VLLM_ATTENTION_BACKEND=FLASHINFER
docker run --gpus all --name chat -p 8000:8000 ^
  vllm/vllm-openai:v0.8.5 ^
  --model %MODEL% --swap-space 4 --no-enable-chunked-prefill
