# Everything a developer does here. `make setup` needs git, make, Python >= 3.11 with venv, and pip; nothing else.

VENV := .venv
BIN := $(VENV)/bin
# A new pyproject.toml is a new environment; an unchanged one is never installed twice, so a second run needs no network.
STAMP := $(VENV)/.set-up-$(shell cat pyproject.toml Makefile 2>/dev/null | cksum | cut -d ' ' -f 1)
PORT ?= 8000
ADDRESS = http://127.0.0.1:$(PORT)
DEMO_CONFIG := examples/configs/qwen3_5-moe-text.json
# Pythons by name; the first that is new enough and has venv is taken. The distribution's come first: they are optimised builds
# and answer a fifth faster than what version managers build. Name your own: make setup PYTHON=/opt/py/bin/python
PYTHON ?= /usr/bin/python3.13 /usr/bin/python3.12 /usr/bin/python3.11 python3.13 python3.12 python3.11 python3 python python3.14
# Where real engines are, for test-engine.
ENGINE_PYTHON ?=
ENGINES ?=
ENGINE_PATHS ?=

.DEFAULT_GOAL := help
.PHONY: help setup serve demo test test-engine lint conformance agreement coverage bench bench-service faults wheel clean

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

setup: $(STAMP) ## make .venv with everything, compile bytecode, the snapshot and its rules
	@$(BIN)/python -m compileall -q registry/archcap service/archcap_service
	@$(BIN)/capctl build --cache --quiet

$(STAMP):
	@set -e; \
	usable='import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))'; \
	if [ -x $(BIN)/python ] && $(BIN)/python -c "$$usable" 2>/dev/null; then :; else \
	  found=; \
	  for python in $(PYTHON); do \
	    if "$$python" -c "$$usable" >/dev/null 2>&1; then found="$$python"; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "make: none of '$(PYTHON)' is Python 3.11 or newer with venv and pip." >&2; \
	    echo "make: install one (Debian: apt-get install python3 python3-venv) or name it: make setup PYTHON=/path/to/python" >&2; \
	    exit 1; \
	  fi; \
	  echo "making $(VENV) with $$found ($$("$$found" -c 'import platform; print(platform.python_version())'))"; \
	  "$$found" -m venv --clear $(VENV); \
	fi
	@echo "installing archcap and its tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q -j 0 "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" || true
	@rm -f $(VENV)/.set-up-*
	@touch $@

serve: setup ## serve look-ups and resolutions on this machine, and say how to ask (PORT=8000)
	@(for _ in $$(seq 150); do \
	  if curl -s -o /dev/null $(ADDRESS)/readyz; then \
	    echo; echo 'Does a hybrid checkpoint start with decode context parallelism on 0.5.18? In another terminal:'; echo; \
	    echo '  curl -s $(ADDRESS)/v1/engines/sglang/releases/0.5.18/resolve -d @examples/requests/whitelist-dcp.json'; echo; \
	    exit; \
	  fi; sleep 0.2; \
	done) & ARCHCAP_LOG_FORMAT=text ARCHCAP_LOG_LEVEL=$${ARCHCAP_LOG_LEVEL:-warning} exec $(BIN)/capctl serve --port $(PORT)

demo: setup ## ask whether a hybrid checkpoint starts with decode context parallelism on 0.5.18 (it does not, and says why)
	@echo '$$ capctl resolve --engine sglang@0.5.18 --config $(DEMO_CONFIG) --gpu h200 --gpus 8 --set tp_size=8 --set dcp_size=2'
	@$(BIN)/capctl resolve --engine sglang@0.5.18 --config $(DEMO_CONFIG) --gpu h200 --gpus 8 --set tp_size=8 --set dcp_size=2; \
	code=$$?; test $$code -eq 1 || { echo "make: expected exit 1 (refused), got $$code" >&2; exit 1; }

lint: setup ## style, types, import contract, and the registry's data
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/capctl validate

test: lint ## everything that must hold: lint, then all tests
	$(BIN)/python -m pytest -q -n auto

test-engine: setup ## minutes: the plug-in inside real SGLang releases (docs/integrations/sglang.md says what it needs)
	@test -x "$(ENGINE_PYTHON)" -a -d "$(ENGINES)" || { \
	  echo "make: name a Python with SGLang's libraries and the folder of unpacked releases:" >&2; \
	  echo "make: make test-engine ENGINE_PYTHON=env/bin/python ENGINES=engines (docs/integrations/sglang.md)" >&2; exit 1; }
	ARCHCAP_ENGINE_PYTHON="$(abspath $(ENGINE_PYTHON))" ARCHCAP_ENGINES="$(abspath $(ENGINES))" \
	  ARCHCAP_ENGINE_PATHS="$(ENGINE_PATHS)" $(BIN)/python -m pytest -q tests/real_engine

conformance: setup ## write down what agrees with the recorded answers of the engine by now (docs/verify.md)
	$(BIN)/python -m tests.conformance grow

agreement: setup ## print how far the rules agree with the recorded answers of the engine (README)
	$(BIN)/python -m tests.conformance agreement

coverage: setup ## count which effects of the engine's argument resolution the rules say, and write docs/coverage.md
	$(BIN)/python -m tests.coverage

bench: setup ## measure the budgets of docs/design (ratios taken in one run)
	$(BIN)/python -m benchmarks

bench-service: setup ## measure the service beside a FastAPI hello, and write docs/performance.md
	$(BIN)/python -m benchmarks.write_performance

faults: setup ## minutes: kill the service while it writes, take its database away, send it what nobody should
	$(BIN)/python -m benchmarks.faults

wheel: setup ## build dist/archcap-*.whl and .tar.gz
	$(BIN)/python -m build --no-isolation --outdir dist .

clean: ## remove what was built; .venv stays (rm -rf .venv for that)
	rm -rf dist build registry/archcap/_built .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	find registry service tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
