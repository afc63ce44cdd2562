# Two commands do everything on a machine with Python 3.11 or later, pip and make:
#   make demo    installs itemix into .venv and runs the main job on built-in data
#   make test    installs what the tests need and runs all of them
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test lint unit first-hour docs release-check lowest-check bench experiments experiments-quick clean

demo: $(VENV)/.installed
	$(BIN)/itemix warmup
	$(BIN)/itemix demo

test: lint unit

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.installed-test
	$(BIN)/pytest -n 2 --dist loadfile

# What a new user does in the first hour, with a new environment and nothing compiled yet
first-hour:
	rm -rf build/first-hour
	$(PYTHON) -m venv build/first-hour
	build/first-hour/bin/python -m pip install --quiet ".[excel]"
	build/first-hour/bin/python tests/first_hour.py

# The site, in build/site: no warning, every link leads somewhere, notebooks are run
docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -q -W --keep-going -E -d build/doctrees docs build/site
	$(BIN)/pytest -q -m site tests/docs/test_site.py

# What a release consists of, built, looked at, and tried in a new environment
release-check: $(VENV)/.installed-release
	rm -rf build/release
	$(BIN)/python -m build --outdir build/release
	$(BIN)/twine check --strict build/release/*
	$(BIN)/check-wheel-contents build/release/*.whl
	$(BIN)/python tests/release.py build/release/*.whl

# The oldest versions of everything that pyproject.toml allows
lowest-check: $(VENV)/.installed-release
	rm -rf build/lowest
	$(BIN)/uv venv --quiet build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest --resolution lowest-direct ".[web]" --group test
	build/lowest/bin/pytest -o filterwarnings= -n 2 --dist loadfile --ignore tests/web/browser

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/mining.py --output docs/benchmarks/mining.md
	$(BIN)/python benchmarks/model_mining.py --output docs/benchmarks/model-mining.md
	$(BIN)/python benchmarks/front_door.py --output docs/benchmarks/front-door.md
	$(BIN)/python benchmarks/estep.py --output docs/benchmarks/estep.md
	$(BIN)/python benchmarks/gibbs.py --output docs/benchmarks/gibbs.md
	$(BIN)/python benchmarks/scale.py --output docs/benchmarks/scale.md
	$(BIN)/python benchmarks/rules.py --output docs/benchmarks/rules.md
	$(BIN)/python benchmarks/reading.py --output docs/benchmarks/reading.md
	$(BIN)/python benchmarks/serving.py --output docs/benchmarks/serving.md
	$(BIN)/python benchmarks/explorer.py --output docs/benchmarks/explorer.md
	$(BIN)/python benchmarks/cold.py --output docs/benchmarks/cold.md

experiments: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.paper

experiments-quick: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.paper --quick

clean:
	rm -rf $(VENV) build dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[web]" --group test --group lint
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

$(VENV)/.installed-release: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --group release
	touch $@

$(VENV)/.installed-bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[web]" --group bench
	touch $@ $(VENV)/.installed
