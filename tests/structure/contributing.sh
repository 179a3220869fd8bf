#!/bin/sh
# Follows the commands of CONTRIBUTING.md literally in a copy of the tree: a kernel, a schedule, a layer, an exporter, an
# option and a model. Each may touch its own file and its row, and nothing else; then the build knows all of them.
#   contributing.sh SOURCE_FOLDER
set -eu
source=$1
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$source"
cp -r CMakeLists.txt CMakePresets.json CONTRIBUTING.md src include cli tools examples data man bench "$copy"
cd "$copy"

# fail TEXT
fail()
{
    echo "$1"
    exit 1
}

# The indented commands of one section.
commands_of()
{
    awk -v title="### $1" '/^##/ { inside = $0 == title } inside && /^ +(sed|echo) / { sub(/^ +/, ""); print }' \
        CONTRIBUTING.md
}

# follow SECTION FILE...: runs the section's commands, which must change exactly these files.
follow()
{
    section=$1
    shift
    rm -rf before
    mkdir before
    cp -r src include before
    commands_of "$section" > steps
    [ -s steps ] || fail "CONTRIBUTING.md, \"$section\": it has no commands"
    sh -eu steps || fail "CONTRIBUTING.md, \"$section\": a command failed"
    for folder in src include; do diff -rq "before/$folder" "$folder" || true; done |
        sed 's/^Only in \(.*\): /\1\//; s/^Files before\/.* and \(.*\) differ$/\1/' | sort > touched
    printf '%s\n' "$@" | sort > expected
    diff expected touched || fail "CONTRIBUTING.md, \"$section\": it touches other files than its file and its row"
}

follow 'Add a kernel' src/kernel/mine.c src/kernel/kernels.def
follow 'Add a schedule' src/schedule/mine.c src/schedule/schedules.def
follow 'Add a layer' src/transform/mine.c src/transform/layers.def
follow 'Add an exporter' src/export/mine.c src/export/exporters.def
follow 'Add an option' include/gess/options.def
follow 'Add a model' src/model/builtin/mine.c src/model/builtin/models.def

cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -DGESS_TESTS=OFF -DGESS_MPI=OFF -DGESS_CUDA=OFF -DGESS_NETCDF=OFF -DGESS_HDF5=OFF > log 2>&1 &&
    cmake --build build -j "$(nproc)" --target gess_command >> log 2>&1 || {
    tail -30 log
    fail 'the tree does not build with the additions'
}
if grep -i 'warning:' log; then fail 'the additions bring warnings'; fi

gess=build/gess
$gess sample mine --kernel mine --schedule mine --mine 7 --chains 8 --warmup 20 --draws 20 -q -o run
grep -q '"mine": "7"' run/config.json || fail 'the option is not in config.json'
$gess export run --to mine -o exported > /dev/null
[ -e exported ] || fail 'the exporter wrote nothing'
$gess models | grep -q '^mine' || fail 'the model is not listed'
$gess sample --help > help
for word in '  mine ' '--mine=N'; do grep -q -- "$word" help || fail "--help does not name $word"; done
if $gess sample mine --mine 101 -q -o other 2> message; then fail 'the range of the option is not checked'; fi
$gess manual > man/mine.1
[ "$(grep -c mine man/mine.1)" -ge 5 ] || fail 'the manual page does not name the additions'
$gess sample mine --chains 8 --warmup 200 --draws 20 -q -o learned # the map search tries the layer
echo 'a kernel, a schedule, a layer, an exporter, an option and a model: one file and one row each'
