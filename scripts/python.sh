#!/bin/sh
# Installs the Python package into a virtual environment, build/env, with the library of `make`; first what is missing for that.
# `make python` calls it.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh
need $build_packages $python_packages
make
env=$PWD/build/env
[ -x "$env/bin/pip" ] || python3 -m venv "$env"
GESS_BUILD_DIR=$PWD/build "$env/bin/pip" -q --disable-pip-version-check install .
printf '\n%s\n' 'gess is installed for Python in build/env. To use it in this terminal:' '' "    . $env/bin/activate" ''
