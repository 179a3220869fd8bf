#!/bin/sh
# The shared library exports what the public header declares, and nothing else.
#   symbols.sh SOURCE_FOLDER LIBRARY
set -eu
declared=$(grep -oE '\bgess_[a-z_]+\(' "$1/include/gess/gess.h" | tr -d '(' | sort -u)
declared=$(for name in $declared; do grep -qE "GESS_API .*\b$name\(" "$1/include/gess/gess.h" && echo "$name"; done)
exported=$(nm -D --defined-only "$2" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u)
if [ "$declared" != "$exported" ]; then
    echo "declared in gess.h:"; echo "$declared"
    echo "exported by the library:"; echo "$exported"
    exit 1
fi
echo "$exported" | wc -l
