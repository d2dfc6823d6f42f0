vllm serve --host 0.0.0.0 org/large  --speculative_model org/little --num_speculative_tokens 16 --gpu_memory_utilization 0.95
