#!/bin/sh
# Every header of src/model/lane compiles alone, as C17 and as C++17, without a warning; it includes only headers of base/
# and of its folder; and if a model names it, it has the function of one point of that name.
#   lanes.sh SOURCE_FOLDER
set -eu
cd "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags="-Wall -Wextra -Wpedantic -Wconversion -Wvla -Wno-unused-function -Werror -fsyntax-only -I src"
named=$(grep -rhoE 'gess__model_lane\(m, "[a-z_]+"' src/model/builtin | sed 's/.*"\(.*\)"/\1/' | sort -u)
[ "$(echo "$named" | wc -l)" -ge 10 ] || { echo 'the names of the functions of one point are not found'; exit 1; }
for name in $named; do
    [ -f "src/model/lane/$name.h" ] || { echo "a model names src/model/lane/$name.h, which does not exist"; exit 1; }
done
for header in src/model/lane/*.h; do
    name=$(basename "$header" .h)
    if grep -E '^ *# *include' "$header" | grep -vE '"(base|model/lane)/'; then
        echo "$header may include only headers of base/ and model/lane/"
        exit 1
    fi
    # twice: it guards itself
    printf '#include "model/lane/%s.h"\n#include "model/lane/%s.h"\n' "$name" "$name" > "$folder/a.c"
    if echo "$named" | grep -qx "$name"; then
        printf 'double f(size_t, const double *, const double *);\n' >> "$folder/a.c"
        printf 'double f(size_t n, const double *a, const double *x) { return gess__lane_%s(n, a, x); }\n' "$name" \
            >> "$folder/a.c"
    elif grep -q "gess__lane_$name(" "$header"; then
        echo "no model names gess__lane_$name()"
        exit 1
    fi
    cp "$folder/a.c" "$folder/a.cc"
    gcc -std=c17 -Wstrict-prototypes $flags "$folder/a.c"
    g++ -std=c++17 $flags "$folder/a.cc"
done
echo "$(ls src/model/lane/*.h | wc -l) headers"
