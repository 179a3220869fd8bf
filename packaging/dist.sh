#!/bin/sh
# Writes the source tarball: the files of the commit, with the same bytes for the same commit. Outside a clone, all files
# of the tree but build output and run directories.
#   dist.sh [FILE]
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(gess VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
out=${1:-build/gess-$version.tar.gz}
mkdir -p "$(dirname "$out")"
if git rev-parse --is-inside-work-tree > /dev/null 2>&1 && [ -e .git ]; then
    git archive --prefix="gess-$version/" HEAD | gzip -9n > "$out"
else
    list=$(mktemp)
    trap 'rm -f "$list"' EXIT
    find . -type f ! -path './build/*' ! -path './gess-runs/*' ! -path './debian/*' ! -path '*/__pycache__/*' | LC_ALL=C sort > "$list"
    tar --files-from "$list" --transform "s,^\./,gess-$version/," --owner 0 --group 0 --numeric-owner --mtime '2026-01-01 00:00Z' \
        -cf - | gzip -9n > "$out"
fi
echo "$out"
