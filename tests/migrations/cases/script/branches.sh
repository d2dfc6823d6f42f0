#!/bin/bash
if [ -n "$FAST" ]; then
  export VLLM_ATTENTION_BACKEND=FLASHINFER
  DRAFT="--speculative-model draft/a --num-speculative-tokens 5"
else
  export VLLM_ATTENTION_BACKEND=FLASH_ATTN
  DRAFT="--speculative-model draft/b --num-speculative-tokens 3"
fi
case "$MODE" in
  embed) EXTRA+=" --task embed" ;;
  classes) EXTRA+=" --task classify" ;;
esac
case "$GUIDE" in
  quick) EXTRA+=" --guided-decoding-backend xgrammar" ;;
  full) EXTRA+=" --guided-decoding-backend outlines" ;;
esac
vllm serve "$MODEL" $DRAFT $EXTRA
