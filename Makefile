# Every target sets itself up: it creates .venv, installs what it needs, and does so once.
# PYTHON=/path/to/python chooses the interpreter; otherwise the first suitable one is taken.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?=
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3 python3.13 python3.12 python3.11)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet --no-input
CHECK := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench docs clean
.DELETE_ON_ERROR:

help:
	@echo "make demo   show what the package does"
	@echo "make test   run every test and doctest"
	@echo "make lint   ruff and mypy"
	@echo "make bench  measure speed and accuracy"
	@echo "make docs   build the documentation into site/"
	@echo "make clean  remove .venv and everything built"

demo: $(VENV)/.core
	@$(BIN)/python -m colonnade.demo

test: $(VENV)/.dev
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal $(ARGS)

lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "The documentation is in site/index.html"

clean:
	rm -rf $(VENV) site dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The marker is written last, so an interrupted creation is repeated.
$(VENV)/.created:
	@for python in $(CANDIDATES); do \
	  if $$python -c '$(CHECK)' >/dev/null 2>&1; then \
	    echo "Creating $(VENV) with $$($$python --version)"; \
	    $$python -m venv --clear $(VENV) && touch $@ && exit 0; \
	    exit 1; \
	  fi; \
	done; \
	echo "Colonnade needs Python 3.11 or newer with its venv module; looked for: $(CANDIDATES)." >&2; \
	echo "Hint: install one (on Debian and Ubuntu also python3-venv), or run make PYTHON=/path/to/python." >&2; \
	exit 1

$(VENV)/.core: $(VENV)/.created pyproject.toml
	@echo "Installing Colonnade into $(VENV) (once)"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml
	@echo "Installing Colonnade and its developer tools into $(VENV) (once)"
	@$(PIP) install --editable ".[dev]"
	@touch $@ $(VENV)/.core
