# Everything below works from a fresh clone: the environment is made on first need.
#
#   make demo       grade the sample submissions, some wrong on purpose; where are the scorecards?
#   make test       the tests, in less than ten minutes
#   make test-all   200 seeds per sample, the whole attack corpus
#   make mutants    how many generic edits of right programs the checks catch (an hour)
#   make bench      the figures that the documentation quotes
#   make check      ruff, mypy, import-linter
#   make audit      known vulnerabilities of the pinned versions; asks PyPI
#
# TORCH_INDEX=https://download.pytorch.org/whl/cpu chooses the CPU build of torch where pip would
# otherwise find the CUDA build (several GB; nothing here needs it).

VENV  ?= .venv
BIN   := $(VENV)/bin
READY := $(VENV)/ready
DEMO  ?= results/demo

TORCH_INDEX ?=
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check \
               $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

.PHONY: demo test test-all bench mutants check audit clean

demo: $(READY)
	$(BIN)/python sample_submissions/demo.py $(DEMO)

test: $(READY)
	$(BIN)/python -m pytest -m "not slow" --numprocesses auto tests/specs
	$(BIN)/python -m pytest -m "not slow" --numprocesses auto --dist loadgroup --ignore tests/specs --ignore tests/test_samples.py
	$(BIN)/python -m pytest -m "not slow" --numprocesses auto --dist loadgroup tests/test_samples.py

test-all: $(READY)
	TAKEHOME_SEEDS=200 $(BIN)/python -m pytest --numprocesses auto tests/specs
	TAKEHOME_SEEDS=200 $(BIN)/python -m pytest --numprocesses auto --dist loadgroup --ignore tests/specs

bench: $(READY)
	$(BIN)/python -m benchmarks

mutants: $(READY)
	$(BIN)/python -m benchmarks.mutants --show

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# In an environment of its own: what audits is not part of what is audited.
audit: $(READY)
	$(BIN)/python -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check "pip-audit>=2.10"
	$(VENV)/audit/bin/pip-audit --strict --no-deps --disable-pip --requirement harness/constraints.txt

clean:
	rm -rf $(VENV) build dist results .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The stamp is renewed when what is to be installed changes. pip itself comes first: the groups of
# pyproject.toml need 25.1.
$(READY): pyproject.toml harness/constraints.txt
	@test -x $(BIN)/python || { \
	    for python in "$$PYTHON" python3 python3.13 python3.12 python3.11 python3.14; do \
	        "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	        python=; \
	    done; \
	    test -n "$$python" || { echo "no Python is found, expected 3.11 or newer; install one, or set PYTHON" >&2; exit 2; }; \
	    echo "making $(VENV) with $$python"; \
	    "$$python" -m venv $(VENV); }
	$(PIP_INSTALL) --upgrade "pip>=25.1"
	$(PIP_INSTALL) --constraint harness/constraints.txt --editable . --group dev
	@touch $@
