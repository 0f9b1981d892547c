# One command a job: make demo | test | test-all | fuzz | lint | types | bench | bench-scale | bank | grammar | guide | api | site | lock | install-locked | audit | sbom | clean.  Everything happens in .venv and build/.
PYTHON ?= python3
BIN := .venv/bin
KB := build/demo.kb
RUN := $(BIN)/cohortium

.PHONY: demo test test-all fuzz lint types bench bench-scale bank grammar guide api site lock install-locked audit sbom clean

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

.venv/supply: .venv/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[supply]'
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
	$(RUN) report $(KB) 'any EGFR inhibitor' --html build/demo.html

PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

test: .venv/dev  ## the tests of every day, on two cores
	$(PYTEST) -m "not slow"

test-all: .venv/dev  ## every test, with as many generated examples as it asks for
	COHORTIUM_TESTS=all $(PYTEST)

fuzz: .venv/dev  ## the generated attacks of the tests, MINUTES=60 long
	$(BIN)/python -m benchmarks.durability.fuzzing --minutes $(or $(MINUTES),60)

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

# pip takes no hashes for what is installed editable, nor where another build of a pinned version is wanted (torch for the
# processor alone): hashes stand in a lock of their own, for the program with its extras but those of torch.
LOCKED := ner endpoint ontology dev bench
lock: .venv/supply  ## requirements.lock, after pyproject.toml or constraints.txt was changed
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-emit-index-url \
	  --python-version 3.11 --default-index https://pypi.org/simple --constraint constraints.txt \
	  $(addprefix --extra ,$(LOCKED)) --custom-compile-command 'make lock  (uv pip compile --universal --generate-hashes)' \
	  pyproject.toml --output-file requirements.lock

install-locked: .venv/made  ## the program and its tools, each file checked against the hashes of requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .

audit: .venv/supply  ## known vulnerabilities of the locked versions; needs a connection
	@$(BIN)/python -c 'import urllib.request; urllib.request.urlopen("https://pypi.org/pypi/pip/25.0/json", timeout=20)' 2>/dev/null || { \
	  echo "make audit: pypi.org, which knows them, does not answer. Nothing was audited." >&2; exit 2; }
	$(BIN)/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock

sbom: .venv/supply  ## what is installed, as CycloneDX in build/sbom.json
	@mkdir -p build
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o build/sbom.json $(BIN)/python

clean:
	rm -rf build .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
