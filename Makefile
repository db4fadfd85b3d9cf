# `make demo` and `make test` set up all they need: a virtual environment in .venv
# with pinned versions. Python 3.11 or later and make are enough.

PYTHON ?= python3
BIN := .venv/bin
# Pins hold for what is installed and for what builds it.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start hundreds of processes: each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check bench fuzz tables docs site clean

demo: .venv/run
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

# Tests of connections wait a good deal: three processes keep two cores busy.
test: check
	$(BIN)/python -m pytest --dist worksteal \
	  -n $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) * 3 // 2)')

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers auto

# PARTS="why store" measures these alone, BY=10 a tenth of the records.
BY ?= 1
bench: .venv/bench
	$(BIN)/python -m tests.bench $(PARTS) --by $(BY)

# A minute for each reader of what a peer says; make fuzz SECONDS=3600 takes longer.
SECONDS ?= 60
fuzz: .venv/fuzz
	for target in $$($(BIN)/python -m tests.fuzz.targets); do \
	  $(BIN)/python -m tests.fuzz.guided $$target -max_total_time=$(SECONDS) || exit 1; done

# What is derived from something else; tests fail when it is stale.
tables: .venv/dev
	$(BIN)/python -m lacec.syntax.generate

docs: .venv/dev
	$(BIN)/python -m docs.generate

# Any warning, a dead link among them, is an error.
site: .venv/dev
	$(BIN)/python -m sphinx -W --keep-going -n -q -d build/doctrees docs build/site
	@echo build/site/index.html

.venv/run: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lacec needs Python 3.11 or later: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -e .
	@touch $@

.venv/dev: .venv/run
	$(BIN)/pip install -q -e '.[dev]'
	@touch $@

.venv/bench: .venv/run
	$(BIN)/pip install -q -e '.[bench]'
	@touch $@

.venv/fuzz: .venv/dev
	$(BIN)/pip install -q -e '.[dev,fuzz]'
	@touch $@

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
