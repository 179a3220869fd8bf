#!/bin/sh
# man/gess.1 is what `gess manual` prints. To renew it: build/gess manual > man/gess.1
#   manual.sh SOURCE_FOLDER GESS
set -eu
"$2" manual | diff - "$1/man/gess.1"
