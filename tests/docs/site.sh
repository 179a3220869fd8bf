#!/bin/sh
# Builds the documentation as a site, strictly: a link, an anchor or a picture that is not there, or a page that no menu
# has, is an error. Pages must work without network. Exit status 77 if the packages cannot be had.
#   site.sh SOURCE_FOLDER VENV_FOLDER
set -u
source=$1
venv=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
fail()
{
    echo "FAILED: $*"
    failed=1
}

if ! cmp -s "$source/docs/site/requirements.txt" "$venv/installed.txt"; then
    python3 -m venv "$venv" && "$venv/bin/pip" -q --disable-pip-version-check install -r "$source/docs/site/requirements.txt" ||
        { echo 'the packages of the site cannot be installed'; exit 77; }
    cp "$source/docs/site/requirements.txt" "$venv/installed.txt"
fi
cd "$source" && NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build -q -d "$out/site" || fail 'the site cannot be built'
[ -s "$out/site/index.html" ] || fail 'there is no index.html'

# without network: no script, style, font or picture of another place
for page in "$out"/site/*.html "$out"/site/*/*.html; do
    grep -oE '<(script|link|img|iframe)[^>]*(src|href)="?(https?:)?//[^">]*' "$page" | grep -vE 'rel="?canonical' &&
        fail "$page loads something from elsewhere"
done
# formulas are MathML, and none is left over
grep -q '<math' "$out/site/method.html" || fail 'method.html has no formulas'
sed 's/<[^>]*>//g' "$out/site/method.html" | grep -n '\$\|\\[a-z]' && fail 'method.html has formulas as text'
grep -n '^<math [^>]*display="inline"' "$out/site/method.html" | cut -c1-80 | grep . && fail 'method.html has formulas that break their paragraph'
[ "$(grep -o '<math [^>]*display="block"' "$out/site/method.html" | wc -l)" -eq "$(grep -oE '<div style="overflow-x: auto"><math' "$out/site/method.html" | wc -l)" ] ||
    fail 'method.html has formulas that make the page wider than a phone'
# the C interface is there, with every public function
for name in $(grep -ohE 'gess_[a-z_]+\(' "$source"/include/gess/gess.h "$source"/include/gess/draws.h | sort -u | tr -d '('); do
    grep -q "$name" "$out/site/api.html" || fail "api.html lacks $name"
done
exit $failed
