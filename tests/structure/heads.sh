#!/bin/sh
# Every .c and .h file of src/, cli/ and tools/ begins with a comment that says what the file does.
#   heads.sh SOURCE_FOLDER
set -eu
bad=$(cd "$1" && find src cli tools -name '*.[ch]' | sort | while read -r file; do
    awk -v file="$file" '
    FNR == 1 { if (!/^\/\*/) exit; comment = 1 }
    comment { text = text $0; if (/\*\//) exit }
    END {
        sub(/\*\/.*/, "", text)
        if (text !~ /[A-Za-z]+ +[A-Za-z]+/) print file ": it does not begin with a comment that says what the file does"
    }
    ' "$file"
done)
if [ -n "$bad" ]; then
    printf '%s\n' "$bad"
    exit 1
fi
echo "every source file begins with what it does"
