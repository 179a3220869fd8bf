#!/bin/sh
# The Python package: builds it with the library of this build, installs it into a virtual environment and tests it.
#   python.sh SOURCE_FOLDER BUILD_FOLDER VENV TEST
# TEST: package (pytest, examples of the docstrings), types (mypy), notebooks, docs (the programs in the
# documentation), faults (many interrupts), emcee (its
# documentation's examples against emcee itself, and emcee's own tests), libraries (numba, JAX, ArviZ, MPI, notebooks). Ends with 77 if PyPI cannot be reached and VENV is not there yet.
set -eu
source=$1
build=$2
venv=$3
test=$4

# The copy that is built: setuptools writes beside its sources.
prepare()
{
    if ! cmp -s "$source/tests/python/requirements.txt" "$venv/requirements.txt"; then
        echo "making $venv"
        python3 -m venv "$venv"
        if ! "$venv/bin/pip" -q --disable-pip-version-check install -r "$source/tests/python/requirements.txt"; then
            "$venv/bin/pip" -q --disable-pip-version-check --retries 0 download --no-deps -d "$venv" cffi ||
                { echo "PyPI cannot be reached: passed over"; exit 77; }
            exit 1
        fi
        cp "$source/tests/python/requirements.txt" "$venv/requirements.txt"
    fi
    copy="$venv/source"
    rm -rf "$copy"
    mkdir "$copy"
    (cd "$source" && cp -R pyproject.toml setup.py README.md LICENSE THIRD_PARTY.md include data "$copy")
    mkdir "$copy/python"
    cp -R "$source/python/build_extension.py" "$source/python/native.map" "$source/python/gess" "$copy/python"
    GESS_BUILD_DIR=$build "$venv/bin/pip" -q --disable-pip-version-check install --no-build-isolation --no-deps \
        --force-reinstall "$copy"
}

# emcee's own tests, from its source distribution, of gess.emcee in its place. The one change: no upper limit of the
# acceptance fraction, since steps that are not refused are no fault here (docs/python.md).
test_as_emcee()
{
    folder="$venv/emcee-tests"
    rm -rf "$folder"
    mkdir "$folder"
    version=$(sed -n 's/^emcee==//p' "$source/tests/python/requirements.txt")
    "$venv/bin/pip" -q --disable-pip-version-check download --no-deps --no-binary emcee -d "$folder" "emcee==$version" ||
        { echo "PyPI cannot be reached: passed over"; exit 77; }
    tar xf "$folder/emcee-$version.tar.gz" -C "$folder"
    mv "$folder/emcee-$version/src/emcee/tests" "$folder/tests"
    find "$folder/tests" -name '*.py' -exec sed -i -E 's/^( *)from emcee(\.| )/\1from gess.emcee\2/
        s/^( *)import emcee$/\1import gess.emcee as emcee/' {} +
    sed -i 's/(acc < 0\.9) \* (acc > 0\.1)/acc > 0.1/' "$folder/tests/integration/test_proposal.py"
    "$python" -m pytest -q -p no:cacheprovider -W ignore "$folder/tests"
}

if [ "$test" = package ]; then
    prepare
elif [ ! -d "$venv/source" ]; then
    echo "python/package has not made $venv: passed over"
    exit 77
fi
cd "$venv"
export PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=Agg
if [ -f "$build/libgess_cuda.so" ] && [ -d "$build/tests/emulator" ]; then # a GPU that is the processor
    export GESS_EMULATOR="$build/tests/emulator" GESS_BUILD="$build"
fi
python="$venv/bin/python"
case $test in
package)
    "$python" -m pytest -q -p no:cacheprovider --ignore "$source/python/tests/long" "$source/python/tests"
    "$python" -m pytest -q -p no:cacheprovider --doctest-modules --pyargs gess gess.emcee --ignore-glob '*__main__.py'
    ;;
types)
    cd "$source"
    "$python" -m mypy --cache-dir "$venv/mypy"
    ;;
docs) exec python3 "$source/tests/docs/blocks.py" "$build/gess" "$source" --python "$python" ;;
notebooks) exec "$python" "$source/tests/python/notebooks.py" "$source"/examples/notebooks/*.ipynb ;;
faults)
    GESS_INTERRUPTS=50 exec "$python" -m pytest -q -p no:cacheprovider -k random_moments "$source/python/tests/test_faults.py"
    ;;
libraries)
    more=$venv-libraries
    packages="numba jax arviz pandas joblib cloudpickle mpi4py nbclient ipykernel"
    if [ "$(cat "$more/ready" 2> /dev/null)" != "$packages" ]; then
        python3 -m venv "$more"
        "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
            "$("$more/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/package.pth"
        # shellcheck disable=SC2086
        "$more/bin/pip" -q --disable-pip-version-check install $packages ||
            { echo "PyPI cannot be reached: passed over"; exit 77; }
        echo "$packages" > "$more/ready"
    fi
    exec "$more/bin/python" -m pytest -q -p no:cacheprovider "$source/python/tests/test_models.py" \
        "$source/python/tests/test_device.py" \
        "$source/python/tests/test_sample.py::test_progress_bar_of_a_notebook" \
        "$source/python/tests/test_sample.py::test_figure_of_a_notebook"
    ;;
emcee)
    "$python" -m pytest -q -rP -p no:cacheprovider "$source/python/tests/long"
    test_as_emcee
    ;;
esac
