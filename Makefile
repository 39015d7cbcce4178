# The two commands of the README are `make run` and `make test`; both set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
# A browser that is already there is used; see tests/find_chromium.sh.

.PHONY: run test check unit e2e fix bench screenshots clean

run: $(VENV)/app  ## open the app
	$(BIN)/streamlit run app.py --server.port $(PORT)

$(VENV)/python:
	$(PYTHON) -c 'import sys; sys.exit("posviz needs Python 3.11 or newer, got " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/app: $(VENV)/python requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/dev: $(VENV)/app requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@
