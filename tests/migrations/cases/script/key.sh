export VLLM_API_KEY=secret
vllm serve "$name" --port 4015 -tp=4 \
        --served-model-name="Chat" \
        --max_num_seqs=64 \
        --disable-fastapi-docs \
        --disable-log-requests \
        --disable-uvicorn-access-log
