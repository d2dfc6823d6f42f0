#!/bin/bash
sudo tee /etc/systemd/system/engine.service <<EOF
[Service]
Environment=VLLM_USE_V1=1
ExecStart=/usr/bin/vllm serve $MODEL --swap-space 4
EOF
cat > Dockerfile <<'EOF'
FROM vllm/vllm-openai:v0.9.0
CMD ["--model", "org/chat", "--swap-space", "4"]
EOF
cat > config.yaml <<'EOF'
model: org/chat   # which
max-model-len: 4096
swap-space: 4
disable-log-requests: true
EOF
vllm serve --config config.yaml ${SWAP:+--swap-space $SWAP} ${LEN:+"--max-model-len" "$LEN"} --compilation-config.level 3
