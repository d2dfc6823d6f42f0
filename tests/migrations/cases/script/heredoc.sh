cat > start.sh <<'EOF'
#!/bin/bash
export VLLM_USE_V1=1
exec vllm serve org/chat \
  --swap-space 4 \
  --port 8000
EOF
ssh gpu bash -s <<EOF
vllm serve \$MODEL \\
  --swap-space 4 \\
  --port $PORT
EOF
