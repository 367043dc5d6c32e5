# Every target sets up what it needs and is quick the second time. "make" alone lists them.
#
# Stamp files inside the virtual environments record what has been done, so that deleting
# .venv (or "make clean-all") is always enough to start again.

PYTHON ?= python3
# Workers of the tests. Each test uses one thread, so this is also the number of cores used.
WORKERS ?= 2
# Further arguments for pytest, e.g. make test ARGS="tests/core/test_perft.py -k divide"
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
EXTRAS := envs train sb3 rllib cluster bench blind track docs release dev
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
CORE := $(wildcard core/*/*.cpp core/*/*.h)
BUILD_INPUTS := CMakeLists.txt pyproject.toml $(filter-out core/tests/%,$(CORE))
PACKAGE := $(shell find src -type f -not -name '*.pyc')
SITE := mkdocs.yml $(shell find docs -type f) README.md CHANGELOG.md CONTRIBUTING.md
# "make play" and "make demo" install only what they need, unless everything is there already.
INSTALLED = $(VENV)/$(if $(wildcard $(VENV)/.dependencies),.built,$(1))

# Tests that call the native module in this process, for "make sanitize-python".
NATIVE_TESTS := tests/core tests/encodings tests/selfplay tests/nets/test_native.py \
	tests/nets/test_twin.py tests/players/test_mcts.py tests/envs/test_vector.py \
	tests/algorithms/test_engine.py tests/blind/test_belief.py tests/blind/test_rules.py \
	tests/blind/test_vector.py tests/exams tests/data tests/papers/test_inman2022.py
# The sanitizers end a process that gets no memory.
NATIVE_TESTS += --ignore=tests/core/test_out_of_memory.py
# Python itself has no sanitizers: their libraries come first, with the one that throws exceptions.
SANITIZERS = $(foreach name,asan ubsan stdc++,$(shell $(CXX) -print-file-name=lib$(name).so))

# Levels of CPU in the wheel; "make wheel LEVELS=baseline" takes a third of the time.
LEVELS ?= baseline;avx2;avx512

# Kinds of CPU that "make kernels" compiles for and that this one can run.
KERNELS := portable $(shell grep -sqw avx2 /proc/cpuinfo && echo avx2)

# One thread per process: on few cores, thread pools only take time from each other.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help demo play setup build test check docs wheel release bench sanitize sanitize-thread sanitize-python \
	kernels format \
	constraints web-assets packages clean clean-all
.DELETE_ON_ERROR:

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | \
		awk -F'|' '{ printf "  make %-16s %s\n", $$1, $$2 }'

demo: $(call INSTALLED,.demo) ## Train an engine for five minutes before your eyes, then play it in the browser
	$(BIN)/rookery demo $(ARGS)

play: $(call INSTALLED,.play) ## Play the shipped engine in the browser
	$(BIN)/rookery play $(ARGS)

setup: $(VENV)/.dependencies ## Make .venv with every dependency (not the native module)

build: $(VENV)/.built ## Compile the native module and install Rookery into .venv, editable

test: build packages $(VENV)-sunfish/.dependencies ## Run all tests and list the skipped ones (ARGS="..." goes to pytest)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

check: build ## Lint, formatting and types: everything but the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/clang-format --dry-run -Werror $(CORE)

docs: site/index.html ## Build the documentation into site/, with its search; works offline

wheel: dist/.wheel ## Build the wheel for all levels of CPU into dist/ and check it in a clean environment

release: build ## Check, build and verify everything that a release consists of, into dist/
	scripts/release.sh $(BIN) $(ARGS)

bench: build packages ## Measure speed against peers, in the same run
	$(BIN)/rookery bench $(ARGS)

sanitize: build/sanitize/.passed ## Run the C++ tests under the address and undefined-behaviour sanitizers

kernels: $(KERNELS:%=build/kernels-%/.passed) ## Run the engine's C++ tests as compiled for AVX2 and for any CPU

sanitize-thread: build/sanitize-thread/.passed ## Run the C++ tests under the thread sanitizer

sanitize-python: build/sanitize-python/.built ## Run the Python tests of native code under the address and undefined-behaviour sanitizers
	env LD_PRELOAD="$(SANITIZERS)" PYTHONPATH=scripts/sanitize \
		ROOKERY_CORE=$$(echo $(CURDIR)/build/sanitize-python/_core.*.so) \
		ASAN_OPTIONS=detect_leaks=0:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 \
		$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -p no:cacheprovider \
		$(or $(ARGS),$(NATIVE_TESTS))

format: $(VENV)/.dependencies ## Format Python and C++ in place
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CORE)

constraints: ## Pin again, after a change to the requirements: newest versions that fit, in a new .venv
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	scripts/pin.sh $(VENV) $(EXTRAS) kubernetes

web-assets: ## Fetch the web page's board and charts from npm, after a change of scripts/web_assets.json
	@$(PYTHON) scripts/fetch_web_assets.py --install-npm

packages: ## Install the Debian packages that some tests need, where that is allowed
	@scripts/debian_packages.sh

clean: ## Remove what was built; keep the virtual environments
	rm -rf build dist site $(VENV)/.built src/rookery/_core.pyi
	find src tests benchmarks scripts -name __pycache__ -prune -exec rm -rf {} +

clean-all: clean ## Remove the virtual environments too
	rm -rf $(VENV) $(VENV)-sunfish .mypy_cache .pytest_cache .ruff_cache .hypothesis

# --- How the pieces are made ---

$(VENV)/.dependencies: constraints.txt pyproject.toml scripts/requirements.py
	@scripts/prerequisites.sh $(PYTHON)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python scripts/requirements.py $(EXTRAS) > $(VENV)/requirements.txt
	$(BIN)/python $(PIP_INSTALL) -c constraints.txt -r $(VENV)/requirements.txt
	touch $@

# scikit-build-core compiles in build/, where unchanged objects stay from time to time.
$(VENV)/.built: $(VENV)/.dependencies $(BUILD_INPUTS)
	$(BIN)/python $(PIP_INSTALL) -c constraints.txt --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.demo: SMALL := train
$(VENV)/.play $(VENV)/.demo: constraints.txt pyproject.toml scripts/install_small.sh $(BUILD_INPUTS)
	scripts/install_small.sh $(PYTHON) $(VENV) $(SMALL)
	touch $@

# auditwheel names the oldest system that the wheel runs on, and refuses libraries that it lacks.
dist/.wheel: $(VENV)/.dependencies $(BUILD_INPUTS) $(PACKAGE)
	rm -rf build/wheel dist/*.whl
	ROOKERY_LEVELS="$(LEVELS)" $(BIN)/python -m pip wheel --quiet --disable-pip-version-check \
		--no-deps --no-build-isolation --wheel-dir build/wheel .
	env PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --plat auto --wheel-dir dist \
		build/wheel/*.whl
	scripts/check_wheel.sh dist/*.whl $(PYTHON)
	touch $@

site/index.html: $(VENV)/.built $(SITE)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	touch $@

# An opponent for matches; it runs as a process of its own: .venv-sunfish/bin/sunfish-uci
$(VENV)-sunfish/.dependencies: constraints-sunfish.txt
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP_INSTALL) -c constraints-sunfish.txt sunfish
	touch $@

# The address sanitizer runs what is compiled for any CPU: the test suite runs what this CPU has.
build/sanitize/.passed: OPTIONS := -DROOKERY_SANITIZE=address,undefined -DROOKERY_PORTABLE=ON
build/sanitize-thread/.passed: OPTIONS := -DROOKERY_SANITIZE=thread
build/kernels-avx2/.passed: OPTIONS := -DROOKERY_MARCH=x86-64-v3
build/kernels-portable/.passed: OPTIONS := -DROOKERY_PORTABLE=ON
PROGRAM := core_test
build/kernels-avx2/.passed build/kernels-portable/.passed: PROGRAM := engine_test
build/sanitize-python/.built: $(VENV)/.built $(BUILD_INPUTS)
	$(BIN)/cmake -S . -B $(@D) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g" \
		-DROOKERY_SANITIZE=address,undefined -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python
	$(BIN)/cmake --build $(@D) --target _core
	touch $@

build/%/.passed: $(VENV)/.dependencies CMakeLists.txt $(CORE)
	$(BIN)/cmake -S . -B $(@D) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g" \
		$(OPTIONS) -DROOKERY_TESTS=ON -DROOKERY_PYTHON=OFF
	$(BIN)/cmake --build $(@D) --target $(PROGRAM)
	$(@D)/$(PROGRAM)
	touch $@
