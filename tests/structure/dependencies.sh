#!/bin/sh
# The one-way rule of docs/architecture.md:
#   src/    a folder includes only from itself and from folders to its left in the order below, never from cli/ or tools/;
#   tools/  includes from src/, from tools/ itself, and cli's command.h;
#   cli/    includes the public headers <gess/...>, its own files and generated ones, nothing of src/ or tools/;
# and only benchmarks name BLAS or LAPACK, as a reference.
#   dependencies.sh SOURCE_FOLDER
set -eu
cd "$1"
order="base diagnose parallel mpi model transform approx chains kernel frozen execute lane cuda cluster adapt explore schedule draws evidence export run plot report api"
tools=$(cd tools && echo *)
export order tools
bad=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' src cli tools --include='*.c' --include='*.h' --include='*.def' |
    awk -F: 'BEGIN {
        n = split(ENVIRON["order"], names, " "); for (i = 1; i <= n; i++) rank[names[i]] = i
        n = split(ENVIRON["tools"], names, " "); for (i = 1; i <= n; i++) tool[names[i]] = 1
    }
    function refuse(text) { print $1 ":" $2 ": " text }
    {
        split($1, part, "/"); area = part[1]; from = part[2]
        file = $0; sub(/^[^"]*"/, "", file); sub(/".*/, "", file)
        to = file; sub(/\/.*/, "", to)
        if (file ~ /\.\.\//) { refuse("include \"" file "\" by its folder, without .."); next }
        if (file !~ /\//) {
            if (area == "src") refuse("include \"" file "\" without its folder")
            else if (area == "tools" && file != "command.h") refuse("of cli/, tools may include only command.h (" file ")")
            next
        }
        if (area == "cli") {
            refuse("cli may not include from " ((to in tool) ? "tools" : "src") " (" file ")")
            next
        }
        if (area == "src" && !(from in rank)) { refuse("folder " from " is not in the order"); next }
        if (area == "tools" && (to in tool)) next
        if (to in tool) { refuse(area " may not include from tools (" file ")"); next }
        if (!(to in rank)) { refuse("includes from unknown folder " to); next }
        if (area == "src" && rank[to] > rank[from]) refuse(from " may not include from " to " (" file ")")
    }')
blas=$(grep -rliE 'cblas|lapacke|openblas' src cli --include='*.c' --include='*.h' || true)
if [ -n "$blas" ]; then bad="$bad
only tools/bench may name BLAS and LAPACK, as a reference: $blas"; fi
if [ -n "$bad" ]; then
    printf '%s\n' "$bad"
    exit 1
fi
echo "$(find src cli tools -name '*.[ch]' | wc -l) files, no back edge"
