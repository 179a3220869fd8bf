#!/bin/sh
# A shared library exports what its public headers declare, and nothing else.
#   symbols.sh SOURCE_FOLDER LIBRARY HEADER...
set -eu
source=$1
library=$2
shift 2
headers=$(for header in "$@"; do echo "$source/include/gess/$header"; done)
# shellcheck disable=SC2086
declared=$(cat $headers | grep '^GESS_API ' | grep -oE '\bgess_[a-z0-9_]+\(' | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u)
if [ "$declared" != "$exported" ]; then
    echo "declared in $*:"; echo "$declared"
    echo "exported by the library:"; echo "$exported"
    exit 1
fi
echo "$exported" | wc -l
