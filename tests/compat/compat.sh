#!/bin/sh
# A program that was built with the headers of version 1 runs with the library of today: v1/client.c, compiled with the
# headers stored in v1/include, and with headers whose structs lack their last fields, as those of an earlier version do.
#   compat.sh SOURCE_FOLDER BUILD_FOLDER
# shellcheck disable=SC2086
set -eu
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
flags="-std=c17 -O1 -Wall -Wextra -Wpedantic -Werror"
link="-L $build -Wl,-rpath,$build -lgess"
v1=$source/tests/compat/v1

cc $flags -I "$v1/include" -o client "$v1/client.c" $link
./client run > first.txt || { echo "compat: the client of version 1 fails" >&2; exit 1; }

# structs without their last two fields
cp -r "$v1/include" shorter
awk '{ line[NR] = $0 } /^} gess_(density|stats);/ { line[NR - 1] = line[NR - 2] = "" }
    END { for (i = 1; i <= NR; i++) print line[i] }' "$v1/include/gess/gess.h" > shorter/gess/gess.h
[ "$(diff "$v1/include/gess/gess.h" shorter/gess/gess.h | grep -c '^< .*;')" -eq 4 ] || {
    echo "compat: four fields were to be removed" >&2
    exit 1
}
cc $flags -DSHORTER -I shorter -o shorter_client "$v1/client.c" $link
./shorter_client run2 > second.txt || { echo "compat: the client with shorter structs fails" >&2; exit 1; }
cmp first.txt second.txt
cat first.txt
