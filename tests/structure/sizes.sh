#!/bin/sh
# No file of src/ or cli/ has more than 500 lines, unless a line `Length: REASON` of its first comment says why; no
# function has more than 60 lines, from its `{` to its `}`, both at the start of a line.
#   sizes.sh SOURCE_FOLDER
set -eu
bad=$(cd "$1" && find src cli -name '*.[ch]' | sort | while read -r file; do
    awk -v max_file=500 -v max_function=60 '
    FNR == 1 { comment = /^\/\*/ }
    comment && /Length: [^ ]/ { reason = 1 }
    comment && /\*\// { comment = 0 }
    /^\{/ { start = FNR; head = before }
    /^\}/ && start {
        if (FNR - start + 1 > max_function) print FILENAME ":" start ": " FNR - start + 1 " lines in one function: " head
        start = 0
    }
    /^[^ \t#}{\/]/ { before = $0 }
    END { if (FNR > max_file && !reason) print FILENAME ": " FNR " lines, and no `Length: REASON` in its first comment" }
    ' "$file"
done)
if [ -n "$bad" ]; then
    printf '%s\n' "$bad"
    exit 1
fi
echo "no file above 500 lines without a reason, no function above 60"
