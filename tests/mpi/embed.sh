#!/bin/sh
# The example of a program that embeds gess prints the same for 1 to 4 ranks; and several runs in one program, some of
# which fail.
#   embed.sh GESS SOURCE_FOLDER BUILD_FOLDER
# shellcheck disable=SC2086
set -eu
. "$(dirname "$0")/launch.sh"
build=$3
flags="-std=c17 -O2 -Wall -Wextra -Wpedantic -Werror -I $source/include -L $build -Wl,-rpath,$build"
printf '#include <gess/gess_mpi.h>\nint main() { return 0; }\n' > header.cc
OMPI_CXX=g++ mpicxx -std=c++17 -I "$source/include" -fsyntax-only header.cc || fail "gess_mpi.h is not C++"
mpicc $flags -o embed "$source/examples/mpi/embed.c" -lgess_mpi -lgess -lm || fail "the example does not build"
mpicc $flags -o several "$source/tests/mpi/embed.c" -lgess_mpi -lgess -lm || fail "embed.c does not build"
for count in 1 2 3 4; do
    ranks $count ./embed > out.txt || fail "the example on $count ranks: status $?"
    [ $count -gt 1 ] || cp out.txt first.txt
    cmp out.txt first.txt || fail "the example on $count ranks gives $(cat out.txt) in place of $(cat first.txt)"
done
[ "$(wc -l < first.txt)" -eq 1 ] || fail "several ranks print"
awk '{ for (k = 0; k < 3; k++) { d = $(4 + k) - k; if (d > 0.15 || d < -0.15) exit 1 } }' first.txt || fail "means: $(cat first.txt)"
for count in 2 4; do
    limit=60 ranks $count ./several > out.txt || fail "runs that fail, on $count ranks: status $?"
    cat out.txt
done
