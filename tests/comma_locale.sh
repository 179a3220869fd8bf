#!/bin/sh
# Runs a command in a locale whose numbers have a decimal comma, where the C library can make one (glibc's localedef).
#   comma_locale.sh SOURCE_FOLDER COMMAND...
set -eu
source=$1
shift
folder=
if command -v localedef >/dev/null; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    # -c: the other categories are not defined, which is only a warning
    localedef -c -i "$source/tests/data/locale/comma" "$folder/comma" 2>"$folder/log" || [ -f "$folder/comma/LC_NUMERIC" ] || {
        cat "$folder/log"
        exit 1
    }
    LOCPATH=$folder
    LC_ALL=comma
    export LOCPATH LC_ALL
fi
"$@"
