#!/bin/sh
# Uses the arm64 wheel under qemu, with Debian's Python for that processor: it samples, and a seed has the bytes that the
# x86-64 wheel gives.
#   wheel_arm64.sh FOLDER_OF_WHEELS FOLDER PYTHON     PYTHON: of a virtual environment with this processor's wheel
set -eu
wheels=$1
folder=$2
python=$3
command -v qemu-aarch64 > /dev/null || { echo "qemu-aarch64 is not there (package qemu-user): the arm64 wheel is not tested"; exit 0; }

# Packages of another architecture, with an apt of its own, so that the system's lists stay as they are.
rm -rf "$folder"
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/debs" "$folder/root" "$folder/wheels"
folder=$(cd "$folder" && pwd)
echo "deb http://deb.debian.org/debian bookworm main" > "$folder/sources.list"
set -- -qq -o "Dir::State::lists=$folder/lists" -o "Dir::Etc::sourcelist=$folder/sources.list" \
    -o Dir::Etc::sourceparts=/dev/null -o "Dir::Cache=$folder/cache" -o Dir::State::status=/dev/null \
    -o APT::Sandbox::User=root -o APT::Architecture=arm64 -o APT::Architectures=arm64
apt-get "$@" update
(cd "$folder/debs" && apt-get "$@" download libc6 python3.11-minimal libpython3.11-minimal libpython3.11-stdlib zlib1g \
    libexpat1 libffi8 libgcc-s1 libstdc++6 libbz2-1.0 liblzma5 libssl3 libuuid1)
for package in "$folder"/debs/*.deb; do dpkg-deb -x "$package" "$folder/root"; done

"$python" -m pip -q --disable-pip-version-check download -d "$folder/wheels" --platform manylinux2014_aarch64 \
    --platform manylinux_2_17_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
    --python-version 311 --implementation cp --abi cp311 --abi abi3 --abi none --only-binary=:all: \
    "$wheels"/gess-*aarch64.whl numpy
for wheel in "$folder"/wheels/*.whl; do "$python" -m zipfile -e "$wheel" "$folder/site"; done
chmod +x "$folder/site/gess/bin/gess"

cat > "$folder/use.py" <<'END_OF_PYTHON'
import hashlib, platform, sys, warnings
import numpy as np
import gess, gess.emcee

digest = hashlib.sha256(gess.sample("funnel", chains=16, warmup=100, draws=50, seed=5, threads=1).draws.tobytes()).hexdigest()
result = gess.sample(lambda x: -0.5 * float(x @ x), 3, draws=100, chains=16)
assert result.draws.shape == (16, 100, 3) and abs(result.draws.mean()) < 0.2
warnings.simplefilter("ignore")
sampler = gess.emcee.EnsembleSampler(16, 2, lambda x: -0.5 * float(x @ x))
sampler.run_mcmc(np.random.randn(16, 2), 20)
print(platform.machine(), "python", sys.version.split()[0], "gess", gess.version(), file=sys.stderr)
print(digest)
END_OF_PYTHON
here=$("$python" "$folder/use.py")
there=$(PYTHONPATH="$folder/site" qemu-aarch64 -L "$folder/root" "$folder/root/usr/bin/python3.11" "$folder/use.py")
[ "$here" = "$there" ] || { echo "the draws differ: $here here, $there on arm64" >&2; exit 1; }
qemu-aarch64 -L "$folder/root" "$folder/site/gess/bin/gess" --version | head -n 1
