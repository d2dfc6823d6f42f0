vllm serve org/base \
        --disable-log-requests \
        --tool-call-parser llama3_json \
        --speculative-config '{"model": "./draft/", "num_speculative_tokens": 3, "disable_logprobs": false, "disable_by_batch_size": 30, "method": "mlp_speculator"}'
        # --speculative-config '{"model": "org/other", "method": "eagle"}'
