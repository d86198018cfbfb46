# Two commands do everything, each in a virtual environment of its own:
#   make score   run the main job: a table of competitive ratios
#   make test    pass the tests
# And:
#   make lint     the linters and the type checker
#   make answers  stored answers of solvers and policies, computed again and compared
#   make pages    the numbers of the documentation, written from the rows in docs/studies/rows
#   make study    one of the studies behind them: make study NAME=... ARGS=...
#   make site     the documentation, in build/site
PYTHON ?= python3
VENV   := .venv
STAMP  := $(VENV)/.installed

.PHONY: score test lint answers pages study site clean

score: $(STAMP)
	$(VENV)/bin/hindsched score

test: $(STAMP)
	$(VENV)/bin/hindsched compile
	$(VENV)/bin/python -m pytest -n logical --dist loadfile

lint: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

answers: $(STAMP)
	$(VENV)/bin/python tests/answers/stored_answers.py --check tests/answers/stored_answers.csv.xz

site: $(STAMP)
	$(VENV)/bin/python -m sphinx -W --keep-going -q -b html docs build/site
	@echo "Written: build/site/index.html"

pages: $(STAMP)
	$(VENV)/bin/python -m docs.studies pages

study: $(STAMP)
	$(VENV)/bin/python -m docs.studies $(or $(NAME),--help) $(ARGS)

$(STAMP): pyproject.toml
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
