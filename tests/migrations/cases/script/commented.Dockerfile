FROM vllm/vllm-openai:v0.8.3
ENTRYPOINT ["python3", "-m", "vllm.entrypoints.openai.api_server", \
            # the model
            "--model", "org/m", \
            # a little room on the host
            "--swap-space", "4", \
            # quiet
            "--disable-log-requests", "--max-model-len", "512", \
            # where it listens
            "--port", "80"]
