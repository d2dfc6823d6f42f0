export VLLM_TORCH_PROFILER_DIR=/srv/profiles
CUDA_VISIBLE_DEVICES=$GPUS vllm serve $MODEL \
  --no-enable-prefix-caching \
  --async-scheduling \
  -cc.pass_config.fuse_allreduce_rms=True \

## another time
#--compilation_config.pass_config.fuse_allreduce_rms true \
