# make demo and make test set up everything they need: a virtual environment with the locked
# dependencies and the package itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready
# torch is named apart: its CPU build is not what the registry's newest version installs
TORCH := torch==2.13.0

.PHONY: demo test lint bench docs lock clean clean-cache

demo: $(READY)
	$(BIN)/syntagma demo -o out/demo.html

test: $(READY) lint
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(BENCH_READY)
	$(BENCH_VENV)/bin/python -m benchmarks

docs: $(READY)
	$(BIN)/python docs/make.py

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "syntagma needs Python 3.11 or later: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(BENCH_READY): requirements.lock requirements-bench.txt pyproject.toml
	test -x $(BENCH_VENV)/bin/python || $(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-bench.txt
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

lock:
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes --no-emit-index-url --no-header -o requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) $(BENCH_VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +

# numba does not notice changes in functions that a kernel calls from other files
clean-cache:
	find src -name '*.nb[ic]' -delete
