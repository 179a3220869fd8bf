#!/bin/sh
# The rule's test must itself fail on a forbidden include: plant one of each kind in a copy.
#   dependencies_fails.sh SOURCE_FOLDER
set -eu
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# plant FILE INCLUDE MESSAGE: with the include in that file the test must fail with that message.
plant()
{
    rm -rf "$copy/src" "$copy/cli" "$copy/tools"
    cp -r "$source/src" "$source/cli" "$source/tools" "$copy"
    echo "#include \"$2\"" >> "$copy/$1"
    if sh "$source/tests/structure/dependencies.sh" "$copy" > "$copy/out"; then
        echo "$2 in $1 was not found"
        exit 1
    fi
    grep "$1:.*$3" "$copy/out" || { echo "$2 in $1 was not named:"; cat "$copy/out"; exit 1; }
}

source=$1
plant src/base/mem.c kernel/kernel.h 'base may not include from kernel'
plant src/draws/reader.c bench/bench.h 'src may not include from tools'
plant src/draws/reader.c command.h 'without its folder'
plant cli/main.c reproduce/plain.h 'cli may not include from tools'
plant cli/main.c base/status.h 'cli may not include from src'
plant cli/main.c model/builtin/builtin.h 'cli may not include from src'
plant cli/command.h run/run.h 'cli may not include from src'
plant tools/bench/bench.c launch.h 'tools may include only command.h'
plant tools/bench/bench.c ../cli/launch.h 'without \.\.'
