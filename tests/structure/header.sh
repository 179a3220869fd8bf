#!/bin/sh
# Every public header compiles alone, as C11, C17 and C++17, without a warning. gess_mpi.h needs MPI and is left out.
#   header.sh SOURCE_FOLDER
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags="-Wall -Wextra -Wpedantic -Wconversion -Wstrict-aliasing -Werror -fsyntax-only -I $1/include"
for header in "$1"/include/gess/*.h; do
    name=${header##*/}
    [ "$name" != gess_mpi.h ] || continue
    [ "$name" != gess_cuda.h ] || continue # of models in CUDA
    # twice: it guards itself
    printf '#include <gess/%s>\n#include <gess/%s>\nint main(void) { return gess_status_text(GESS_OK) == NULL; }\n' \
        "$name" "$name" > "$folder/a.c"
    cp "$folder/a.c" "$folder/a.cc"
    for standard in c11 c17; do gcc -std=$standard -Wstrict-prototypes $flags "$folder/a.c"; done
    g++ -std=c++17 $flags "$folder/a.cc"
done
printf '#include <gess/gess_cuda.h>\n#include <gess/gess_cuda.h>\n__device__ double f(const gess_data *d);\n__device__ double f(const gess_data *d) { return gess_exp(d->values[0]); }\n' \
    > "$folder/a.cc"
g++ -std=c++17 $flags "$folder/a.cc"
