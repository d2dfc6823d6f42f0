VLLM_LOGGING_LEVEL=INFO CUDA_VISIBLE_DEVICES=4,5 vllm serve /srv/m \
    --tensor_parallel_size=2 \
    --kv-transfer-config \
    '{"kv_connector":"PyNcclConnector","kv_role":"kv_consumer","kv_rank":1,"kv_buffer_size":1000e9,"kv_parallel_size":2}'
