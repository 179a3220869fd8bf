#!/bin/sh
# The public header compiles alone, as C17 and as C++, without a warning.
#   header.sh SOURCE_FOLDER
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '#include <gess/gess.h>\nint main(void) { gess_options o; gess__options_init(&o); return 0; }\n' > "$folder/a.c"
cp "$folder/a.c" "$folder/a.cc"
flags="-Wall -Wextra -Wpedantic -Wconversion -Werror -fsyntax-only -I $1/include"
gcc -std=c17 $flags "$folder/a.c"
g++ -std=c++17 $flags "$folder/a.cc"
