# make up    serve profiles/quickstart.yaml on 127.0.0.1:8000
# make test  the whole test suite, but for the part that asks vLLM itself (make test-vllm)
VENV ?= .venv
PEER_VENV ?= .venv-vllm
PROFILE ?= profiles/quickstart.yaml
BIN := $(VENV)/bin
ROOMS := engine kernels migrations schemas profiles
# a command may exist and still not run (version managers leave such behind), so each candidate is asked
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

.PHONY: up test test-vllm check format types schemas bench bench-reload soak docs wheel clean help

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

up: $(VENV)/.installed ## install, fetch the model, serve PROFILE (profiles/quickstart.yaml), with BIND=HOST:PORT there
	$(BIN)/appliance pull $(PROFILE)
	@exec $(BIN)/appliance up $(PROFILE) $(if $(BIND),--bind $(BIND))

test: $(VENV)/.installed-test ## install, fetch the model, run all tests
	$(BIN)/appliance pull profiles/quickstart.yaml
	$(BIN)/python -m pytest

test-vllm: $(VENV)/.installed-test $(PEER_VENV)/bin/vllm ## ask vLLM 0.32.0 itself whether it takes what migrate writes
	APPLIANCE_VLLM=$(PEER_VENV)/bin/python $(BIN)/python -m pytest tests/vllm

check: $(VENV)/.installed-test types ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cd .types && $(abspath $(BIN))/mypy --config-file ../pyproject.toml -p appliance

format: $(VENV)/.installed-test ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: # the tree as it is imported: the rooms are subfolders of the package
	rm -rf .types && mkdir -p .types/appliance
	for file in appliance/*; do case $$file in *__pycache__) ;; *) ln -s ../../$$file .types/appliance/;; esac; done
	for room in $(ROOMS); do ln -s ../../$$room .types/appliance/$$room; done

schemas: $(VENV)/.installed ## regenerate the committed JSON Schemas
	$(BIN)/python -m appliance schema --write

bench: $(VENV)/.installed-test ## the benchmark tables; BENCH="--vllm VENV/bin/vllm" sets vLLM beside us
	$(BIN)/python benchmarks $(BENCH)

bench-reload: $(VENV)/.installed-test ## what edits cost sixteen streaming clients; BENCH="--short", "--vllm VENV/bin/vllm"
	$(BIN)/python benchmarks/reload.py $(BENCH)

soak: $(VENV)/.installed-test ## ten minutes of mixed traffic, then look for leaks
	$(BIN)/python benchmarks/soak.py

docs: $(VENV)/.installed ## regenerate the committed pages of docs/
	$(BIN)/python -m docs.generate

wheel: $(VENV)/.installed-test ## a wheel in dist/
	rm -rf build dist
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

clean: ## remove the virtual environment and everything built
	rm -rf $(VENV) .types build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(PEER_VENV)/bin/vllm:
	benchmarks/setup_vllm.sh $(PEER_VENV)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "the appliance needs Python 3.11 or newer, and found none" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,check]'
	touch $@ $(VENV)/.installed
