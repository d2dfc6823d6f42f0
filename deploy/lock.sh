#!/bin/sh
# Rewrites the lock files from pyproject.toml, for Python 3.12 on Linux x86-64. Wants `uv` on the path.
#   requirements-cuda.lock  everything, PyTorch as the main index has it (for NVIDIA)
#   requirements.lock       everything but PyTorch and what only its CUDA build needs: each platform has its own build
set -eu
cd "$(dirname "$0")"

lock() {
    target=$1
    shift
    uv pip compile ../pyproject.toml build.in --python-version 3.12 --python-platform x86_64-manylinux_2_28 \
        --generate-hashes --no-emit-index-url --no-annotate --custom-compile-command deploy/lock.sh \
        --output-file "$target" "$@"
}

lock requirements-cuda.lock
cuda=$(sed -n 's/^\(nvidia-[a-z0-9-]*\|cuda-[a-z0-9-]*\|torch\|triton\)==.*/\1/p' requirements-cuda.lock | grep -v '^nvidia-ml-py$')
# shellcheck disable=SC2046 # one option a name
lock requirements.lock --constraint requirements-cuda.lock $(printf ' --no-emit-package %s' $cuda)
