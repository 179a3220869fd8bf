# A front to CMake; CMakePresets.json has the other builds (debug, tsan, coverage).
#
#   make             the command at build/gess, and the library beside it
#   make test        builds, then tests: a part under ASan and UBSan, then everything but what is long
#   make test-long   what they need beside, the long tests, then ./run and ./test on a bare system (as root)
#   make mutate      changes the method in many small ways and lists the changes no test notices
#   make bench       speed, as ratios
#   make results     what `gess bench` says of this machine into bench/results (long)
#   make peers       the virtual environment for emcee and zeus in `gess bench efficiency` and `gess bench cost`
#   make install     to PREFIX (/usr/local), below DESTDIR if that is set
#   make format      puts the sources into the house style; make lint checks it, and runs clang-tidy
#   make clean       removes build/

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-print-directory

SOURCES = $(shell find $(wildcard src include cli tools tests bench) -name '*.[ch]')
TIDIED = $(shell find src cli tools -name '*.c')

CONFIGURE = cmake --preset $(1) -DCMAKE_INSTALL_PREFIX='$(abspath $(PREFIX))' -DGESS_TESTS=$(2) >/dev/null
BUILD = cmake --build --preset $(1) -j $(JOBS)
CTEST = ctest --output-on-failure --no-label-summary -j $(JOBS)

# The tests are part of the plain build's configuration where they can be, but are not built by it.
CAN_TEST = $(shell pkg-config --exists cmocka 2>/dev/null && command -v c++ >/dev/null && echo ON || echo OFF)
PRODUCT = gess_command gess_static gess_shared

.PHONY: all build tests asan test test-long mutate bench peers results install format lint clean

all: build

build:
	@$(call CONFIGURE,release,$(CAN_TEST))
	@$(call BUILD,release) --target $(PRODUCT)

tests:
	@$(call CONFIGURE,release,ON)
	@$(call BUILD,release)

asan:
	@$(call CONFIGURE,asan,ON)
	@$(call BUILD,asan)

test: tests asan
	$(CTEST) --test-dir build/asan -L '^(unit|known|cli)$$' -E 'bitwise|resume|diagnose|bench|densities'
	$(CTEST) --test-dir build -LE '^long$$'

test-long: tests
	@. scripts/setup.sh && need $$long_packages
	$(CTEST) --test-dir build -L '^long$$'
	tests/fresh/prove

mutate:
	python3 tests/mutation/mutate.py

bench: build
	build/gess bench

peers: build
	python3 -m venv build/peers
	build/peers/bin/pip -q --disable-pip-version-check install -r bench/peers/requirements.txt

# Figures of this machine and commit, as JSON, and the plot of peers; takes long, and wants the machine to itself.
results: build
	mkdir -p bench/results
	for name in overhead threads fit growth writing; do build/gess bench $$name --json > bench/results/$$name.json || exit 1; done
	build/gess bench peers --seeds 2 --evals 1e6 --json --output bench/results > bench/results/peers.json
	cp bench/results/peers.svg docs/peers.svg

install: build
	DESTDIR='$(DESTDIR)' cmake --install build

format:
	@clang-format -i $(SOURCES)

lint:
	@$(call CONFIGURE,release,OFF) -B build/lint
	@clang-format --dry-run -Werror $(SOURCES)
	@printf '%s\n' $(TIDIED) | xargs -n 4 -P $(JOBS) clang-tidy --quiet -p build/lint

clean:
	rm -rf build
