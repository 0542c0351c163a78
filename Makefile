# `make demo` and `make test` are all that a fresh machine needs: they create the environment themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUPPLY := .venv-supply
UV := $(shell command -v uv 2>/dev/null)
# learners-cpu, not learners: the tests need no GPU libraries.
EXTRAS := data,learners-cpu,plots,text,test,dev
SUITES := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
PYTEST := $(BIN)/python -m pytest
# Two surveys of real people that packages carry, and synthetic copies of five BehaviorBench tasks.
DEMO_TASKS := '@randhie,@wagepanel,surv_resp_pred,demo_pred_age,pers_score_pred,acrossdim_pers_score,game_behavior_dictator'
# Many tests start fresh interpreters: compiled modules are worth keeping, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test slow browser lint docs audit licences sbom clean
help:
	@echo "make demo   evaluate reference models on small real and synthetic surveys, ending with a leaderboard"
	@echo "make test   run the tests"
	@echo "make slow   run the tests that take longer or need real data, a language model or fresh environments"
	@echo "make browser open a site in Chromium; needs the extra 'browser' and chromium"
	@echo "make lint   style, types and import contracts"
	@echo "make docs   the documentation, into build/docs; every link must lead somewhere"
	@echo "make audit, make licences, make sbom   what the project stands on"

$(VENV)/ready: pyproject.toml $(wildcard plugins/*/pyproject.toml)
ifneq ($(UV),)
	test -x $(BIN)/python || uv venv --quiet --seed --python $(PYTHON) $(VENV)
	uv pip install --quiet --compile-bytecode --python $(BIN)/python -e '.[$(EXTRAS)]' $(addprefix -e ./,$(SUITES))
else
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]' $(addprefix -e ./,$(SUITES))
endif
	touch $@

demo: $(VENV)/ready
	$(BIN)/hbench eval --tasks $(DEMO_TASKS) --model no_change --model marginal --model linear

# Two workers: the tests are many and small. What needs minutes, data or a model is in `make slow`.
test: $(VENV)/ready
	$(PYTEST) -n 2 -m 'not slow and not shared and not lm and not packaging and not browser'

slow: $(VENV)/ready
	$(PYTEST) -n 2 -m 'slow or shared or lm or packaging'

browser: $(VENV)/ready
	$(PYTEST) -n 0 -m browser tests/browser

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

$(VENV)/docs: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

docs: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# The tools that look at the environment have one of their own, or they would look at themselves.
$(SUPPLY)/ready:
	$(PYTHON) -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.7' 'cyclonedx-bom>=5'
	touch $@

audit: $(VENV)/ready $(SUPPLY)/ready
	$(BIN)/python -m tests.supply.audit --with $(SUPPLY)/bin/pip-audit

licences: $(VENV)/ready
	$(BIN)/python -m tests.supply.licences

sbom: $(VENV)/ready $(SUPPLY)/ready
	mkdir -p build
	$(SUPPLY)/bin/cyclonedx-py environment --mc-type library --pyproject pyproject.toml --output-reproducible \
	  --output-file build/hbench.cdx.json $(BIN)/python

clean:
	rm -rf $(VENV) $(SUPPLY) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
