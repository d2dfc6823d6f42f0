# every state
python3 -m vllm.entrypoints.openai.api_server \
  --model /data/hybrid \
  --enable-prefix-caching --mamba-cache-mode all \
  --profiler-config '{"profiler": "torch", "torch_profiler_dir": "./prof"}'
