#!/bin/sh
# The one-way rule of docs/architecture.md: a folder of src/ may include only from folders to its
# left in this order, and nothing outside names BLAS or LAPACK but base/linalg.c.
#   dependencies.sh SOURCE_FOLDER
set -eu
src=$1/src
order="base diagnose parallel mpi model transform approx chains kernel frozen execute cluster adapt schedule draws export run report"
export order
bad=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$src" --include='*.c' --include='*.h' --include='*.def' |
    sed "s|^$src/||" |
    awk -F: 'BEGIN { n = split(ENVIRON["order"], names, " "); for (i = 1; i <= n; i++) rank[names[i]] = i }
    {
        from = $1; sub(/\/.*/, "", from)
        to = $0; sub(/^[^"]*"/, "", to); sub(/".*/, "", to)
        file = to; sub(/\/.*/, "", to)
        if (file !~ /\//) { print $1 ":" $2 ": include \"" file "\" without its folder"; next }
        if (!(from in rank)) { print $1 ": folder " from " is not in the order"; next }
        if (!(to in rank)) { print $1 ":" $2 ": includes from unknown folder " to; next }
        if (rank[to] > rank[from]) print $1 ":" $2 ": " from " may not include from " to " (" file ")"
    }')
blas=$(grep -rlE 'cblas|lapacke|openblas_' "$src" --include='*.c' --include='*.h' | grep -v '/base/linalg\.c$' || true)
if [ -n "$blas" ]; then bad="$bad
only base/linalg.c may name BLAS and LAPACK: $blas"; fi
if [ -n "$bad" ]; then
    printf '%s\n' "$bad"
    exit 1
fi
echo "$(find "$src" -name '*.[ch]' | wc -l) files, no back edge"
