#!/bin/sh
# What programs (exec:) cost: time per point of both protocols, and how busy eight of them are kept.
#   run.sh GESS BUILD_FOLDER
# The program is tests/exec/peer.c: a Gaussian in 10 dimensions. `busy` is the time that the programs spend in a density
# that sleeps for 1 ms, over 8 times the time of the run.
set -eu
gess=$(realpath "$1")
build=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cc -O2 -o peer "$source/tests/exec/peer.c"
cc -O2 -I "$source/include" -o time "$source/bench/exec/time.c" -L "$build" -lgess -Wl,-rpath,"$build"
echo "text:   $(./time 'exec:./peer 10')"
echo "binary: $(./time 'exec:./peer 10 binary')"
for protocol in text binary; do
    "$gess" sample "exec:./peer 10 $protocol sleep 1000 report $protocol.busy" --threads 8 --warmup 200 --draws 1500 \
        -q -o $protocol
    "$gess" summary $protocol --json > $protocol.json
    python3 - $protocol <<'PYTHON'
import json, sys
name = sys.argv[1]
run = json.load(open(name + ".json"))
busy = sum(float(line) for line in open(name + ".busy"))
print(f"{name + ':':8}{busy / (8 * run['seconds']):.3f} busy, 8 programs, {run['evals']} evaluations, {run['seconds']:.1f} s")
PYTHON
done
