# Every target does its own set-up, from a fresh clone with Python >= 3.11, g++ and make.
# What has not changed is not done again: each step of the set-up leaves a stamp file.
#
#   PYTHON=/path/to/python3   the interpreter to build for (default: the first that fits)
#   JOBS=2                    processes for building and testing
#   FUZZ_SECONDS=60           how long each fuzzing target runs; 1 in test, 600 in test-all
#   FUZZ_SEED=random          what chance begins with there (default: a number made of the commit)

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
VENV := .venv
BIN := $(VENV)/bin
# What runs the stages of `make test` sets TIER to "change", and of `make test-all` to "everything".
EVERYTHING := $(filter everything,$(TIER))
OTHER_PYTHONS := $(if $(EVERYTHING),3.12) 3.13
FUZZ_SECONDS ?= $(if $(EVERYTHING),600,$(if $(TIER),1,60))
FUZZ_SEED ?= $(if $(EVERYTHING),random,commit)
# Lint uses one core, as do the tests of the core at their end: they run beside each other.
STAGES := setup lint+core-test fuzz python-test other-pythons
# Where the tests that depend on the internals of the interpreter are. They run on every one of these Pythons that is installed.
INTERPRETER_TESTS := tests/monitor tests/contracts tests/events tests/interactive/python tests/interactive/dap
CORE_SOURCES := CMakeLists.txt $(shell find cpp -type f)

say = @printf '\033[1m==\033[0m %s\n' "$(1)"
# Run a command; show what it printed only if it fails.
quietly = mkdir -p $(dir $(1)); $(2) > $(1) 2>&1 || { cat $(1); exit 1; }
# A build must not pick up, or trip over, what the caller's shell happens to export.
unexport PYTHONPATH PYTHONHOME

.PHONY: help setup demo test test-all fuzz bench studies lint tidy docs clean core-test python-test other-pythons

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name does; do printf '  make %-10s %s\n' "$$name" "$$does"; done

setup: $(VENV)/.built $(VENV)/.system ## build everything, run nothing
	@:

demo: setup ## check two example logs and explain what is wrong in them
	@$(BIN)/mopsus demo examples

test: export TIER := change
test: ## everything a change must pass
	@MAKE="$(MAKE)" $(shell tools/find-python) tools/stages.py $(STAGES)
	$(call say,all tests passed)

test-all: export TIER := everything
test-all: export MOPSUS_CASES := 200000
test-all: export MOPSUS_FUZZ_BYTES := 10000000
test-all: export MOPSUS_WHEEL := 1
test-all: export MOPSUS_RANDOM := 1
test-all: export MOPSUS_SHUFFLE := random
test-all: export PYTEST_TIMEOUT := 7200
test-all: export PYTEST_ADDOPTS := -o faulthandler_timeout=7500
test-all: ## the same with all tests, many more random cases, new ones each time, a random order, another Python, and a built wheel
	@MAKE="$(MAKE)" $(shell tools/find-python) tools/stages.py $(STAGES)
	$(call say,all tests passed)

fuzz: setup ## random and damaged inputs for whatever reads from outside, FUZZ_SECONDS for each target
	$(call say,fuzzing on $(JOBS) processes)
	@tools/fuzz --jobs $(JOBS) --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

bench: $(VENV)/.built $(VENV)/.peers ## measure, print the table, store the JSON
	$(call say,benchmarks)
	@$(BIN)/python bench/run.py

studies: $(VENV)/.built ## contracts over the tests of well-known projects, experiments of decentralized monitoring; their pages anew
	$(call say,case studies)
	@$(BIN)/python -m studies run
	$(call say,studies of decentralized monitoring)
	@$(BIN)/python -m studies.decentral run

lint: $(VENV)/.installed ## style, types and import contracts
	$(call say,lint: ruff)
	@$(BIN)/ruff check -q . && $(BIN)/ruff format -q --check .
	$(call say,lint: clang-format)
	@find cpp -name '*.[ch]pp' -print0 | xargs -0 $(BIN)/clang-format --dry-run -Werror
	$(call say,lint: mypy --strict)
	@$(BIN)/mypy --no-error-summary && $(BIN)/mypy --no-error-summary tools/*.py examples/*/*.py && $(BIN)/mypy --no-error-summary bench/*.py
	@$(BIN)/mypy --no-error-summary studies/*.py studies/decentral/*.py studies/decentral/*/*.py && MYPYPATH=studies/recorder $(BIN)/mypy --no-error-summary --explicit-package-bases studies/recorder/*.py
	$(call say,lint: import contracts)
	@$(call quietly,build/import-linter.log,$(BIN)/lint-imports --cache-dir build/import-linter)

tidy: $(VENV)/.installed ## look for faults with clang-tidy, in the C++ that has changed
	$(call say,clang-tidy)
	@$(BIN)/python tools/tidy.py --jobs $(JOBS)

core-test: $(VENV)/.installed $(VENV)/.system
	$(call say,core: C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer)
	@tools/build-sanitized $(JOBS)
	@$(BIN)/ctest --test-dir build/sanitized --output-on-failure --no-tests=error --quiet

python-test: setup
	$(call say,pytest on $(JOBS) processes)
	@$(BIN)/python -m pytest -q -n $(JOBS)$(if $(EVERYTHING), -m '')

other-pythons: $(VENV)/.installed
	@for version in $(OTHER_PYTHONS); do \
	    if [ "$$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')" = $$version ]; then continue; fi; \
	    if ! tools/find-python $$version > /dev/null; then echo "   Python $$version is not installed: its run is left out"; continue; fi; \
	    $(MAKE) -s .venv-$$version/.built; \
	    printf '\033[1m==\033[0m pytest on $(JOBS) processes, Python %s: what depends on the interpreter\n' $$version; \
	    .venv-$$version/bin/python -m pytest -q -n $(JOBS) -p no:cacheprovider -m 'interpreter$(if $(EVERYTHING),, and not exhaustive)' $(INTERPRETER_TESTS); \
	done

docs: $(VENV)/.installed ## build the site into site/
	$(call say,docs: site/index.html)
	@$(call quietly,build/docs.log,NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict)

clean: ## remove everything that was built or installed here
	rm -rf .venv .venv-* build site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -f src/mopsus/_core*.so src/mopsus/_agent.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up -------------------------------------------------------------------------------------

$(VENV)/.created:
	$(call say,virtual environment in $(VENV))
	@python="$(PYTHON)"; [ -n "$$python" ] || python=$$(tools/find-python); "$$python" -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --upgrade 'pip>=25.1'
	@touch $@

# The package is installed in place, for the entry points in its metadata; the core is built beside its sources.
IN_PLACE := --config-settings=editable.mode=inplace --config-settings=wheel.cmake=false

$(VENV)/.installed: pyproject.toml | $(VENV)/.created
	$(call say,Python packages)
	@$(BIN)/python -m pip install -qq --group dev
	@$(BIN)/python -m pip install -qq --no-build-isolation $(IN_PLACE) -e '.[trace,ui]'
	@touch $@

$(VENV)/.built: $(CORE_SOURCES) $(VENV)/.installed
	$(call say,C++ core)
	@tools/build-core $(BIN)/python $(JOBS)
	@touch $@

$(VENV)/.system: tools/system-packages | $(VENV)/.created
	$(call say,system packages)
	@tools/system-packages
	@touch $@

$(VENV)/.peers: pyproject.toml | $(VENV)/.installed
	$(call say,what the benchmarks compare with and monitor)
	@$(BIN)/python -m pip install -qq --group bench
	@$(BIN)/python -m pip install -qq --no-deps --upgrade --target $(VENV)/programs --group programs
	@touch $@

.venv-%/.installed: pyproject.toml $(VENV)/.installed
	$(call say,virtual environment in .venv-$*)
	@[ -x .venv-$*/bin/python ] || "$$(tools/find-python $*)" -m venv .venv-$*
	@.venv-$*/bin/python -m pip install -qq --upgrade 'pip>=25.1'
	@.venv-$*/bin/python -m pip install -qq --group test scikit-build-core
	@.venv-$*/bin/python -m pip install -qq --no-build-isolation $(IN_PLACE) -e '.[trace]'
	@touch $@

.venv-%/.built: $(CORE_SOURCES) .venv-%/.installed
	$(call say,C++ core for Python $*)
	@tools/build-core .venv-$*/bin/python $(JOBS)
	@touch $@

.PRECIOUS: .venv-%/.installed .venv-%/.built
