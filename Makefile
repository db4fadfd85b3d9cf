# `make demo` and `make test` set up all they need: a virtual environment in .venv
# with pinned versions. Python 3.11 or later and make are enough.

# The Python of .venv once there is one, and until then the one that is named, as in
# make PYTHON=python3.13 demo.
PYTHON ?= $(shell test -x .venv/bin/python && echo .venv/bin/python || echo python3)
BIN := .venv/bin
# Tests start hundreds of processes: each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick check bench fuzz tables docs site pins matrix clean

demo: installed-run
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

# Tests of connections wait a good deal: three processes keep two cores busy.
test: check
	$(BIN)/python -m pytest --dist worksteal \
	  -n $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) * 3 // 2)')

# The tests of what changed since main.
quick: installed-dev
	$(BIN)/python -m pytest -n auto $$($(BIN)/python -m tests.quick)

check: installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers auto

# PARTS="why store" measures these alone, BY=10 a tenth of the records.
BY ?= 1
bench: installed-bench
	$(BIN)/python -m tests.bench $(PARTS) --by $(BY)

# A minute for each reader of what a peer says; make fuzz SECONDS=3600 takes longer.
SECONDS ?= 60
fuzz: installed-dev installed-fuzz
	for target in $$($(BIN)/python -m tests.fuzz.targets); do \
	  $(BIN)/python -m tests.fuzz.guided $$target -max_total_time=$(SECONDS) || exit 1; done

# What is derived from something else; tests fail when it is stale.
tables: installed-dev
	$(BIN)/python -m lacec.syntax.generate

docs: installed-dev
	$(BIN)/python -m docs.generate

# The newest versions that work, for each Python that is claimed.
pins: installed-dev
	$(BIN)/python -m tests.pins

# The demo, the tests and the wheel on every Python that is claimed, from a fresh clone;
# ONLY="3.14 3.15" tries these, BARE=--bare on systems with nothing else. It takes an hour.
matrix:
	@$(PYTHON) -m tests.matrix $(BARE) $(ONLY)

# Any warning, a dead link among them, is an error.
site: installed-dev
	$(BIN)/python -m sphinx -W --keep-going -n -q -d build/doctrees docs build/site
	@echo build/site/index.html

# What a target needs, as in .[dev]; does nothing when it is there.
installed-%:
	@$(PYTHON) -c '' 2> /dev/null || \
	  { echo "there is no $(PYTHON) here: install Python 3.11 or later, or name another," \
	    "as in make PYTHON=python3.13 demo"; exit 1; }
	@$(PYTHON) .ci/install.py $*

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
