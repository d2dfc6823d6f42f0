cat <<'EOF' | kubectl apply -n x -f -
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - image: vllm/vllm-openai:v0.9.0
    args: [m, --port=1, --swap-space, "4"]
EOF
kubectl apply -f - <<EOF
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: q}
spec:
  predictor:
    model:
      modelFormat: {name: vLLM}
      runtime: vllm-runtime
      storageUri: hf://org/m
      args:
      - --max-model-len=4096
      - --swap-space=4
EOF
