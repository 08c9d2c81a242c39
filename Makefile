# Two commands do all the set-up: make demo, make test. README.md shows the same as plain commands.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check docs lock bench clean

demo: $(VENV)/.installed
	$(BIN)/graphrag index
	@echo
	$(BIN)/graphrag search --global "What are the recurring causes of incidents?"
	@echo
	$(BIN)/graphrag search --local "What depends on Redis?" --show-sources

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.installed
	$(BIN)/ruff check graphrag flows tests
	$(BIN)/ruff format --check graphrag flows tests
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.installed
	$(BIN)/python -m tests.generate_docs

bench: $(VENV)/.installed
	$(BIN)/python -m tests.bench.bench_index
	$(BIN)/python -m tests.bench.bench_search

# Pins with sha256 of everything, no index and no host name. Needs uv; run after a change of pyproject.toml.
lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra local --extra documents --extra dask --extra mcp --extra dev \
		--generate-hashes --no-header --no-annotate --no-emit-index-url --quiet --output-file requirements.lock

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf data/output data/cache
