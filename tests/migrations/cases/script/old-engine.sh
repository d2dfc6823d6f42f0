export VLLM_USE_V1=0

vllm serve org/base \
    --trust-remote-code \
    --logits-processor-pattern mine.Processor \
    --rope-scaling '{"factor": 4.0, "original_max_position_embeddings": 32768, "rope_type": "yarn"}' \
    --api-key token-000
