FROM python:3.9-slim
RUN pip install vllm==0.8.5
CMD vllm serve m --swap-space 4
