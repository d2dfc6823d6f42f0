CMD="vllm serve m \
  --swap-space 4 \
  --port 80 \
  --disable-log-requests"
eval "$CMD"
ARGS="
  --swap-space 4
  --port 80
  --disable-log-requests
"
vllm serve n $ARGS
COMMON=(--disable-log-requests --port 1)
python3.9 -m vllm.entrypoints.openai.api_server --model a "${COMMON[@]}" &
python3.9 -m vllm.entrypoints.openai.api_server --model b "${COMMON[@]}" --swap-space 4 &
function start() {
    local model=$1
    VLLM_USE_V1=1 CUDA_VISIBLE_DEVICES=0 python -m vllm.entrypoints.openai.api_server \
        --model $model \
        --swap-space 4 \
        $extra > "$LOG" 2>&1 &
}
if [ -n "$TP" ]; then
  OPTS="$OPTS --tensor-parallel-size $TP"
else
  OPTS="$OPTS --num-scheduler-steps 8"
fi
exec vllm serve "${MODEL:-org/x}" ${OPTS} "$@"
vllm serve q --enable-chunked-prefill False --num-scheduler-steps=4 --compilation-config '{"level": 3, "full_cuda_graph": true}' --limit-mm-per-prompt image=4 -O3 --guided-decoding-backend=outlines
case $1 in
  a) vllm serve r --swap-space 1 ;;
  b) export VLLM_USE_V1=1 ;;
esac
kubectl exec pod -- vllm serve s --swap-space 1
docker run vllm/vllm-openai serve org/x --swap-space 3
