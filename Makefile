# `make run` and `make test` set up what they need; `make help` lists the rest.
PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
# Python compiles what it imports; compiling all of every package takes longer than installing it.
PIP := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check
# Playwright's own browser, where Debian's cannot be installed, stays in the project.
export PLAYWRIGHT_BROWSERS_PATH ?= $(CURDIR)/.browsers

.PHONY: help run test others lint types fix messages oracle models measure bench bench-lab bench-heat load hosting access screenshots thorough audit clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /: /' | column -t -s:

run: $(VENV)/app  ## serve the app at http://localhost:8501 (PORT=... for another)
	$(BIN)/python -m streamlit run app.py --server.port $(PORT)

test: $(VENV)/dev $(VENV)/chromium lint  ## everything that guards a commit
# The others run behind the browser tests, which wait some of the time and count updates a second.
	@nice -n 10 $(MAKE) --no-print-directory --keep-going --jobs 2 types others \
		>$(VENV)/others.log 2>&1 & \
	others=$$!; $(BIN)/python -m pytest -m e2e --numprocesses 2 --dist loadfile; browser=$$?; \
	wait $$others; passed=$$?; cat $(VENV)/others.log; exit $$((browser + passed))

others: $(VENV)/dev
	$(BIN)/python -m pytest -m "not e2e and not committed and not hosting"

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

fix: $(VENV)/dev  ## format, and repair what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

messages: $(VENV)/dev  ## the template of messages from the sources, every language's files up to it
	$(BIN)/python -m tests.messages

models: $(VENV)/app  ## train whatever is missing of the set (hours), then measure it
	$(BIN)/python -m posviz.models.train all
	$(MAKE) measure

measure: $(VENV)/app  ## curves and needle grids of all trained models, posviz/trained/README.md
	$(BIN)/python -m posviz.models.curves
	$(BIN)/python -m posviz.models.needles

thorough: $(VENV)/dev audit  ## property tests with 2,000 examples each, every trained model measured again
	$(BIN)/python -m pytest -m "not e2e" --hypothesis-profile=thorough --timeout 3600

audit: $(VENV)/dev $(VENV)/audit/bin/pip-audit  ## known vulnerabilities of the packages installed here
	$(BIN)/python -m tests.audit.audit

oracle: $(VENV)/dev  ## the core against Hugging Face's own code, run here
	$(PIP) -r tests/oracle/requirements.txt
	$(BIN)/python -m pytest -o addopts=--strict-markers -W default tests/oracle

bench: $(VENV)/dev $(VENV)/chromium .venv-bench/peers  ## drag the playground and the same pictures in Dash, Panel, marimo, Gradio
	$(BIN)/python -m tests.bench.bench

bench-lab: $(VENV)/dev $(VENV)/chromium  ## live evaluation against the bare forward pass, and drags meanwhile
	$(BIN)/python -m tests.bench.lab

bench-heat: $(VENV)/dev $(VENV)/chromium  ## drag large heat maps beside the playground
	$(BIN)/python -m tests.bench.heat

load: $(VENV)/load $(VENV)/chromium  ## a lecture full of visitors: what they feel, memory, the limit (20 min; LOAD="--minutes 0.5")
	$(BIN)/python -m tests.load.load $(LOAD)

hosting: $(VENV)/dev $(VENV)/chromium $(VENV)/nginx  ## two processes behind nginx, as compose.yaml has them; one is killed
	$(BIN)/python -m pytest -m hosting tests/hosting

access: $(VENV)/dev $(VENV)/chromium  ## axe-core, zoom and phones on every page and part (30 min; ONLY=rope for some)
	$(BIN)/python -m tests.access $(ONLY)

screenshots: $(VENV)/dev $(VENV)/chromium  ## pictures of the app for the README, in docs/screenshots
	$(BIN)/python -m tests.screenshots

clean:  ## remove the environments
	rm -rf $(VENV) .venv-bench .browsers

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("posviz needs Python 3.11 or newer, got " + sys.version.split()[0] + "; name another with PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/app: $(VENV)/python requirements.txt
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/dev: $(VENV)/app requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@

$(VENV)/load: $(VENV)/dev tests/load/requirements.txt
	$(PIP) -r tests/load/requirements.txt
	@touch $@

# Apart, so that what it needs is not audited with what the app needs.
$(VENV)/audit/bin/pip-audit: $(VENV)/python tests/audit/requirements.txt
	$(BIN)/python -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --no-compile --quiet --disable-pip-version-check -r tests/audit/requirements.txt
	@touch $@

# nginx: the system's, or Debian's package when root; without its service.
$(VENV)/nginx: $(VENV)/dev
	@if PATH="$$PATH:/usr/sbin" command -v nginx >/dev/null; then true; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nginx >/dev/null; \
	else echo "make hosting needs nginx" >&2; exit 1; fi
	@touch $@

# A Chromium: the system's, or Debian's package when root, or the one that Playwright brings.
$(VENV)/chromium: $(VENV)/dev
	@if command -v chromium chromium-browser >/dev/null; then true; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	else $(BIN)/python -m playwright install chromium; fi
	@touch $@

.venv-bench/peers: tests/bench/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r tests/bench/requirements.txt
	@touch $@
