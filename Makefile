# Every target sets up .venv by itself; the second time it costs nothing.
# uv is used when it is there, otherwise the standard venv and pip.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
UV     := $(shell command -v uv 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench docs-check clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	@echo "Setting up $(VENV) (about a minute the first time)"
ifdef UV
	@test -x $(BIN)/python || uv venv --quiet --python '>=3.11' $(VENV)
	@uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'
else
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
endif
	@touch $@

demo: $(READY) ## run the market-alert demonstration: an index, five brokers, a pipeline on Spark
	@$(BIN)/tamis demo --spark

test: $(READY) ## run all tests in parallel
	@$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal

lint: $(READY) ## check style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(READY) ## run the benchmarks (ratios measured in one run)
	@for program in bench/*.py; do echo "== $$program"; $(BIN)/python $$program || exit 1; done

docs-check: $(READY) ## run the code in README and docs, and check their links
	@$(BIN)/python -m pytest --numprocesses=0 -q tests/docs

clean: ## remove what the targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src -name '*.nb[ci]' -delete
