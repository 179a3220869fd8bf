#!/bin/sh
# A shared library exports what its public header declares, and nothing else.
#   symbols.sh SOURCE_FOLDER LIBRARY [HEADER]
set -eu
header=$1/include/gess/${3:-gess.h}
declared=$(grep -oE '\bgess_[a-z_]+\(' "$header" | tr -d '(' | sort -u)
declared=$(for name in $declared; do grep -qE "GESS_API .*\b$name\(" "$header" && echo "$name"; done || true)
exported=$(nm -D --defined-only "$2" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u)
if [ "$declared" != "$exported" ]; then
    echo "declared in $header:"; echo "$declared"
    echo "exported by the library:"; echo "$exported"
    exit 1
fi
echo "$exported" | wc -l
