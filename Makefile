# `make demo` and `make test` do all the set-up themselves; they need Python >= 3.11 and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# --use-pep517: packages that come as source are built by what they ask for, not by what is here
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --use-pep517

# what tests of models with an encoder are run with; where there is no such build, give another: make test TORCH=torch==...
TORCH ?= torch==2.13.0

# larger public corpora, for benchmarks and the tests that need them
TRELLIS_DATA ?= ../shared/data
export TRELLIS_DATA

.PHONY: demo test compiled again lint bench performance accuracy clean

demo: $(VENV)/installed
	@$(BIN)/trellis demo

test: $(VENV)/installed-test lint
	@$(MAKE) --no-print-directory -j 2 compiled again

# those that run beside the kernels' own runs, which take less time than all the rest
BESIDE := tests/docs tests/studies

compiled: $(VENV)/installed-test
	@$(BIN)/python -m pytest $(addprefix --ignore=,$(BESIDE))

MORE := tests/cascade/test_expanding.py tests/cascade/test_joint_gradient.py tests/neural/test_encoder.py tests/neural/test_neural_objective.py tests/weak/test_voters.py tests/weak/functions/test_lists_of_phrases.py

# the kernels once more, uncompiled, and with every index checked, then documentation and studies, beside the rest; what
# they say is shown at the end
again: $(VENV)/installed-test
	@NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/lattice tests/scoring tests/objective tests/features $(MORE) \
	  > $(VENV)/uncompiled.txt 2>&1 || { cat $(VENV)/uncompiled.txt; exit 1; }
	@NUMBA_BOUNDSCHECK=1 TRELLIS_CACHE=$(VENV)/boundscheck $(BIN)/python -m pytest tests/lattice tests/scoring tests/objective $(MORE) \
	  > $(VENV)/boundscheck.txt 2>&1 || { cat $(VENV)/boundscheck.txt; exit 1; }
	@$(BIN)/python -m pytest $(BESIDE) > $(VENV)/beside.txt 2>&1 || { cat $(VENV)/beside.txt; exit 1; }
	@echo "The kernels once more, uncompiled: $$(tail -n 1 $(VENV)/uncompiled.txt)"
	@echo "And with every index checked: $$(tail -n 1 $(VENV)/boundscheck.txt)"
	@echo "Documentation and studies: $$(tail -n 1 $(VENV)/beside.txt)"

lint: $(VENV)/installed-test
	@$(BIN)/ruff check src tests examples
	@$(BIN)/ruff format --check src tests examples
	@$(BIN)/mypy

bench: $(VENV)/installed-test
	@$(BIN)/trellis bench train --against crfsuite
	@$(BIN)/trellis bench tag --against crfsuite
	@$(BIN)/trellis bench features

# all that docs/performance.md is written from, one after the other, on a machine that does nothing else: some hours; a
# part of it anew: make performance BENCHES="tag startup"
BENCHES := train optimum tag features online peers neural weak score roofline products scaling pruning segments cascade \
  memory startup
RESULTS := build/performance
BENCH_train := --full
BENCH_scaling := --against crfsuite
BENCH_pruning := $(TRELLIS_DATA)/conll2000/train.txt $(TRELLIS_DATA)/conll2000/test.txt --order 2

define measure
@echo "trellis bench $(1) $(BENCH_$(1))"
@$(BIN)/trellis bench $(1) $(BENCH_$(1)) --json > $(RESULTS)/$(1).txt
@tail -n 1 $(RESULTS)/$(1).txt > $(RESULTS)/$(1).json

endef

performance: $(VENV)/installed-test
	@mkdir -p $(RESULTS)
	$(foreach name,$(BENCHES),$(call measure,$(name)))
	@$(BIN)/trellis bench page $(RESULTS)/*.json --output docs/performance.md

accuracy: $(VENV)/installed-test
	@$(BIN)/python -m pytest -m slow -s tests/accuracy

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Trellis needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(BIN)/python pyproject.toml
	@echo "Installing Trellis into $(VENV) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	@$(PIP) $(TORCH)
	@$(PIP) --editable '.[test,dev,bench,neural]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
