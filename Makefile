# A front to CMake; CMakePresets.json has the other builds (debug, coverage).
#
#   make             builds the command (build/gess) and the library
#   make python      installs the Python package into build/env, a virtual environment
#   make test        builds and tests: some tests under ASan and UBSan, then every test that is not long
#   make test-long   runs the long tests, then ./run and ./test on a bare system (as root)
#   make test-gpu    compares runs on the GPU of this machine with runs on its processor
#   make tsan        runs the unit tests that start threads under ThreadSanitizer
#   make valgrind    runs the same tests under valgrind (memcheck), for an hour or more
#   make coverage    runs the tests in a build that counts lines, and fails below 90 % of src/ or without a reason for the rest
#   make fuzz        fuzzes the readers of files, FUZZ_SECONDS (300) in all; needs clang
#   make checksums   stores the checksums of tests/bits anew, if three builds make the same; needs clang
#   make mutate      changes the method in many small ways and lists the changes that no test notices
#   make bench       measures speed, as ratios
#   make results     writes the figures of `gess bench` on this machine into bench/results (long)
#   make peers       makes the virtual environment with emcee and zeus for `gess bench`
#   make site        builds the documentation as a site into build/site (Python packages from PyPI)
#   make dist        writes the source tarball, build/gess-VERSION.tar.gz
#   make deb         builds Debian packages into build/deb and checks them with lintian
#   make install     installs to PREFIX (/usr/local), below DESTDIR if that is set
#   make format      formats the sources; make lint checks the format and runs clang-tidy
#   make clean       removes build/

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 300
MAKEFLAGS += --no-print-directory

SOURCES = $(shell find $(wildcard src include cli tools tests bench) -name '*.[ch]')
TIDIED = $(shell find src cli tools -name '*.c')

CONFIGURE = cmake --preset $(1) -DCMAKE_INSTALL_PREFIX='$(abspath $(PREFIX))' -DGESS_TESTS=$(2) >/dev/null
BUILD = cmake --build --preset $(1) -j $(JOBS)
# One test more than cores: several tests mostly wait.
CTEST = ctest --output-on-failure --no-label-summary -j $(shell expr $(JOBS) + 1)

# A plain build configures the tests if it can, so that `make test` need not configure again, but does not build them.
CAN_TEST = $(shell pkg-config --exists cmocka 2>/dev/null && command -v c++ >/dev/null && echo ON || echo OFF)
PRODUCT = gess_command gess_static gess_shared

# The programs that `make test` runs under ASan and UBSan, beside the command.
SANITIZED = $(filter-out test_densities,$(notdir $(basename $(wildcard tests/unit/test_*.c tests/known/test_*.c))))

# The examples, which are tests as well.
EXAMPLES = $(addprefix example_,$(notdir $(basename $(wildcard examples/*.c))) sample_cpp)

# Tests of the command that `make test` runs under the sanitizers alone, and `make test-long` without them.
REPEATED = ^cli/(badmodels|commands|export|plugin|report)$$

# Every unit test that makes a team of threads, or a run with several.
THREADED = $(notdir $(basename $(shell grep -lE 'gess__team_new|pthread_create|threads = [2-9]|"threads", "[2-9]"' tests/unit/test_*.c)))
ALTERNATIVES = $(shell printf '%s\n' $(THREADED) | paste -sd '|')

.PHONY: all build python tests asan test test-long test-gpu tsan valgrind coverage fuzz mutate checksums bench peers results install site dist deb format lint clean

all: build

build:
	@$(call CONFIGURE,release,$(CAN_TEST))
	@$(call BUILD,release) --target $(PRODUCT)

tests:
	@$(call CONFIGURE,release,ON)
	@$(call BUILD,release)

asan:
	@$(call CONFIGURE,asan,ON)
	@$(call BUILD,asan) --target gess_command gess_bits $(SANITIZED) $(EXAMPLES)

test: tests asan
	$(CTEST) --test-dir build/asan -L '^(unit|known|cli|examples|bits)$$' -E 'bitwise|resume|diagnose|bench|densities|mode_weights|cli/help|cli/evidence|test_lane$$'
	$(CTEST) --test-dir build -LE '^long$$' -E '$(REPEATED)'

test-long: tests asan
	@. scripts/setup.sh && need $$long_packages
	$(CTEST) --test-dir build -L '^long$$'
	$(CTEST) --test-dir build/asan -R '^(cli/evidence|unit/test_lane)$$'
	$(CTEST) --test-dir build -R '$(REPEATED)'
	tests/fresh/prove

test-gpu: tests
	$(CTEST) --test-dir build -L '^cuda$$'

tsan:
	@$(call CONFIGURE,tsan,ON)
	@$(call BUILD,tsan) --target $(THREADED)
	$(CTEST) --test-dir build/tsan -R '^unit/($(ALTERNATIVES))$$'

# One at a time; a test that valgrind is too slow for ends with 124 and is listed.
valgrind:
	@$(call CONFIGURE,release,ON)
	@$(call BUILD,release) --target $(THREADED)
	@failed=; for name in $(THREADED); do \
	    timeout 1800 valgrind -q --error-exitcode=9 build/tests/$$name >build/$$name.valgrind 2>&1; status=$$?; \
	    echo "$$name: $$status"; [ $$status -eq 0 ] || failed="$$failed $$name"; done; \
	    [ -z "$$failed" ] || { echo "not passed:$$failed (see build/*.valgrind)"; exit 1; }

# Counters of an earlier run are deleted; a test that fails here fails in `make test`, too, and says so there.
coverage:
	@$(call CONFIGURE,coverage,ON)
	@$(call BUILD,coverage)
	@find build/coverage -name '*.gcda' -delete
	-$(CTEST) --test-dir build/coverage -LE '^(long|statistical|reproduce)$$'
	python3 tests/coverage/coverage.py . build/coverage --check

fuzz:
	FUZZ_SECONDS=$(FUZZ_SECONDS) sh tests/fuzz/run.sh

checksums:
	@$(call CONFIGURE,release,ON)
	@$(call BUILD,release) --target gess_bits
	sh tests/bits/store.sh build/tests/gess_bits . build/matrix

mutate:
	python3 tests/mutation/mutate.py

bench: build
	build/gess bench

peers: build
	python3 -m venv build/peers
	build/peers/bin/pip -q --disable-pip-version-check install -r bench/peers/requirements.txt

# Figures of this machine and commit, as JSON, and the plot of the peers. It takes long and needs an idle machine.
results: build
	mkdir -p bench/results
	for name in overhead threads fit growth writing; do build/gess bench $$name --json > bench/results/$$name.json || exit 1; done
	build/gess bench peers --seeds 2 --evals 1e6 --json --output bench/results > bench/results/peers.json
	cp bench/results/peers.svg docs/peers.svg

python:
	@sh scripts/python.sh

install: build
	DESTDIR='$(DESTDIR)' cmake --install build

site:
	@[ -x build/venv-docs/bin/mkdocs ] || { python3 -m venv build/venv-docs && \
	    build/venv-docs/bin/pip -q --disable-pip-version-check install -r docs/site/requirements.txt; }
	build/venv-docs/bin/mkdocs build -q

dist:
	@sh packaging/dist.sh

deb:
	@sh packaging/deb.sh

format:
	@clang-format -i $(SOURCES)

lint:
	@$(call CONFIGURE,release,OFF) -B build/lint
	@clang-format --dry-run -Werror $(SOURCES)
	@printf '%s\n' $(TIDIED) | xargs -n 4 -P $(JOBS) clang-tidy --quiet -p build/lint

clean:
	rm -rf build
