# Every target sets up .venv by itself; the second time it costs nothing.
# uv is used when it is there, otherwise the standard venv and pip.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
UV     := $(shell command -v uv 2>/dev/null)
# Where the pipeline is tested on an older Spark.
SPARK_42 := build/spark-4.2

.DEFAULT_GOAL := help
.PHONY: help demo test test-spark test-spark-42 lint bench docs-check clean

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

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

test-spark: $(READY) ## run the tests of the pipeline on a cluster and through Connect
	@$(BIN)/python -m pytest -q -m elsewhere
	@for kind in cluster connect; do TAMIS_SPARK=$$kind $(BIN)/python -m pytest -q tests/pipeline || exit 1; done

$(SPARK_42)/.ready: pyproject.toml constraints.txt
	@echo "Setting up $(SPARK_42) (some minutes the first time)"
ifdef UV
	@test -x $(SPARK_42)/bin/python || uv venv --quiet --python '>=3.11' $(SPARK_42)
	@sed 's/^pyspark==.*/pyspark==4.2.1/' constraints.txt > $(SPARK_42)/constraints.txt
	@uv pip install --quiet --python $(SPARK_42)/bin/python --constraint $(SPARK_42)/constraints.txt --editable '.[dev]'
else
	@test -x $(SPARK_42)/bin/python || $(PYTHON) -m venv $(SPARK_42)
	@sed 's/^pyspark==.*/pyspark==4.2.1/' constraints.txt > $(SPARK_42)/constraints.txt
	@$(SPARK_42)/bin/python -m pip install --quiet --constraint $(SPARK_42)/constraints.txt --editable '.[dev]'
endif
	@touch $@

test-spark-42: $(SPARK_42)/.ready ## run the tests of the pipeline on Spark 4.2
	@$(SPARK_42)/bin/python -m pytest -q tests/pipeline

lint: $(READY) ## check style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(READY) ## run the benchmarks (ratios measured in one run)
	@for program in bench/*.py; do echo "== $$program"; $(BIN)/python $$program || exit 1; done

docs-check: $(READY) ## run the code in README and docs, and check their links
	@$(BIN)/python -m pytest --numprocesses=0 -q tests/docs

clean: ## remove what the targets made
	rm -rf $(VENV) $(SPARK_42) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src -name '*.nb[ci]' -delete
