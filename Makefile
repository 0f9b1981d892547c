# One command a job: make demo | test | test-all | lint | types | bench | bench-scale | bank | grammar | guide | api | site | clean.  Everything happens in .venv and build/.
PYTHON ?= python3
BIN := .venv/bin
KB := build/demo.kb
RUN := $(BIN)/cohortium

.PHONY: demo test test-all lint types bench bench-scale bank grammar guide api site clean

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Cohortium needs Python 3.11 or newer; '$(PYTHON)' is `$(PYTHON) --version 2>&1 || echo not there`." >&2; \
	  echo "Hint: name a newer one, for example: make $(or $(MAKECMDGOALS),demo) PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { \
	  echo "Hint: on Debian and Ubuntu, 'python3 -m venv' needs the package python3-venv." >&2; exit 1; }
	@touch $@

.venv/core: .venv/made pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/dev: .venv/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,dense,bench,ner]'
	@touch $@

demo: .venv/core  ## read the sample notes and ask a few questions
	@mkdir -p build && rm -rf $(KB)
	$(RUN) ingest ingest/samples/notes.jsonl --kb $(KB)
	$(RUN) info $(KB)
	$(RUN) query $(KB) 'lung cancer and not metastasis to brain'
	$(RUN) query $(KB) 'any EGFR inhibitor other than osimertinib' --explain
	$(RUN) query $(KB) 'family history of breast cancer' --explain --limit 2
	$(RUN) query $(KB) 'declined medication erlotinib' --explain
	$(RUN) query $(KB) 'same tumor (breast cancer and HER2 = negative)' --world possible
	$(RUN) query $(KB) 'latest ECOG <= 1' --world certain --limit 3 --format json
	$(RUN) ask $(KB) 'lung cancer pts treated w/ osimertinib'
	$(RUN) verify $(KB) 'lung cancer and not metastasis to brain'

PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

test: .venv/dev  ## the tests of every day, on two cores
	$(PYTEST) -m "not slow"

test-all: .venv/dev  ## every test, with as many generated examples as it asks for
	COHORTIUM_TESTS=all $(PYTEST)

lint: .venv/dev
	$(BIN)/ruff check .

# mypy reads the folders as the one package that they are installed as, through a link of that name.
types: .venv/dev
	@root=`pwd`; link=`mktemp -d`; ln -s "$$root" "$$link/cohortium"; cd "$$link" && \
	  "$$root/$(BIN)/python" -m mypy --config-file "$$root/pyproject.toml" --cache-dir "$$root/.mypy_cache" -p cohortium; \
	  code=$$?; rm -f "$$link/cohortium"; rmdir "$$link"; exit $$code

bench: .venv/dev  ## the measurements of docs/measurements.md
	$(BIN)/python -m pytest -q benchmarks --benchmark-only

# What a million patients take is told in docs/results/speed_at_scale.md; RIVALS names an interpreter with openmed and medspaCy.
bench-scale: .venv/dev  ## query shapes beside SQL, at two small sizes; build/scale/scale.html
	$(BIN)/python -m benchmarks.scale.benchmark --out build/scale $(if $(RIVALS),--rivals $(RIVALS)) \
	  --seconds 1 $(addprefix --patients ,$(or $(PATIENTS),1000 5000))

bank: .venv/core  ## the read-backs of eval/bank/acr/bank.toml, after a query was changed
	$(BIN)/python -m cohortium.eval.bank.acr.read_backs

grammar: .venv/core  ## query_lang/grammar.json, after the grammar or its vocabulary was changed
	$(BIN)/python -m cohortium.query_lang.syntax

guide: .venv/core  ## docs/guide/language.md, after a chapter of tests/spec/chapters was changed
	$(BIN)/python -m tests.spec.guide

api: .venv/core  ## docs/reference/api.md, after a docstring of the public API was changed
	$(BIN)/python -m tests.pages.api

site: .venv/core mkdocs.yml  ## the pages as a site in build/site
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@rm -rf build/pages build/site && mkdir -p build/pages
	@cp -r *.md LICENSE docs build/pages/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf build .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
