#!/bin/sh
# Installs the wheel of this processor in virtual environments where no compiler is on the path, and uses it; then that of
# arm64, if it is another one.
#   wheel.sh FOLDER_OF_WHEELS FOLDER [PYTHON…]     without PYTHON: every CPython from 3.9 on that is found
set -eu
wheels=$1
folder=$2
shift 2
if [ $# -eq 0 ]; then
    for minor in 9 10 11 12 13 14; do
        for python in "$HOME"/.pyenv/versions/3.$minor.*/bin/python3 "python3.$minor"; do
            if "$python" -c '' 2> /dev/null; then
                set -- "$@" "$python"
                break
            fi
        done
    done
fi
wheel=$(ls "$wheels"/gess-*"$(uname -m)".whl)
mkdir -p "$folder"
cat > "$folder/use.py" <<'END'
import shutil, subprocess, sys, warnings
import numpy as np
import gess, gess.emcee

assert not any(shutil.which(name) for name in ("cc", "gcc", "clang", "make", "cmake")), "a compiler is on the path"
result = gess.sample(lambda x: -0.5 * float(x @ x), 3, draws=100, chains=16)
assert result.draws.shape == (16, 100, 3) and abs(result.draws.mean()) < 0.2
gess.sample("german-credit", draws=20, warmup=50)
warnings.simplefilter("ignore")
sampler = gess.emcee.EnsembleSampler(16, 2, lambda x: -0.5 * float(x @ x))
sampler.run_mcmc(np.random.randn(16, 2), 20)
out = subprocess.run([sys.executable, "-m", "gess", "models"], capture_output=True, text=True, check=True).stdout
assert "funnel" in out
if len(sys.argv) > 1:
    import arviz

    data = result.to_arviz()
    assert np.array_equal(data["posterior"]["x1"].values, result["x1"]) and len(arviz.summary(data)) == 3
    print("arviz", arviz.__version__, type(data).__name__)
print("python", sys.version.split()[0], "gess", gess.version(), "sum", repr(float(result.draws.sum())))
END
for python; do
    venv=$folder/python-$("$python" -c 'import sys; print(sys.version_info[1])')
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/pip" -q --disable-pip-version-check install "$wheel"
    with_arviz=
    case $venv in
    *-11 | *-13) # ArviZ 0.x and 1.x, which needs Python 3.12
        "$venv/bin/pip" -q --disable-pip-version-check install arviz
        with_arviz=arviz
        ;;
    esac
    PATH="$venv/bin" "$venv/bin/python" "$folder/use.py" $with_arviz
done
if [ "$(uname -m)" = x86_64 ] && ls "$wheels"/gess-*aarch64.whl > /dev/null 2>&1; then
    "$(dirname "$0")/wheel_arm64.sh" "$wheels" "$folder/arm64" "$venv/bin/python"
fi
