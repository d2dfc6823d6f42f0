source env/bin/activate
vllm serve org/m \
    --port 8001 \
    --swap-space 4 \
    --disable-log-requests \
