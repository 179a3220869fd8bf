#!/bin/sh
# What `gess new NAME --lang LANGUAGE` writes: it builds, is sampled, and gives the line through its data. Exit status 77:
# the language is not here.
#   new.sh GESS SOURCE_FOLDER BUILD_FOLDER LANGUAGE
set -eu
gess=$1
source=$2
build=$3
language=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir bin
ln -s "$gess" bin/gess # the commands of its Makefile
PATH=$folder/bin:$PATH
PKG_CONFIG_PATH=$folder # an installed gess is not the one that is tested
PKG_CONFIG_LIBDIR=$folder
export PATH PKG_CONFIG_PATH PKG_CONFIG_LIBDIR
model=./demo/demo.so
data=demo/data.csv

fail()
{
    echo "gess new --lang $language: $*" >&2
    exit 1
}

need()
{
    command -v "$1" > /dev/null || { echo "skipped: there is no $1"; exit 77; }
}

# figures FILE: intercept, slope and mean_at_20 of a table of `gess summary --csv`, or of lines NAME,MEAN
figures()
{
    awk -F, -v file="$1" '{ gsub(/"/, ""); mean[$1] = $2 }
        END {
            if (mean["intercept"] < 1.02 || mean["intercept"] > 1.42 || mean["slope"] < 0.93 || mean["slope"] > 1.01) exit 1
            if ("mean_at_20" in mean && (mean["mean_at_20"] < 20.1 || mean["mean_at_20"] > 21.1)) exit 1
        }' "$1" || fail "other figures: $(cat "$1")"
}

"$gess" new demo --lang "$language" > out || fail "$(cat out)"
sed -n 's/^\(demo[^ ]*\)  .*/\1/p' out > files
while read -r file; do
    [ -s "$file" ] || fail "no $file"
    if grep -q '@[A-Z]*@' "$file"; then fail "$file still has a mark in it"; fi
done < files
[ "$(wc -l < files)" -eq "$(find demo -type f | wc -l)" ] || fail "files that are not listed: $(cat out)"
[ "$(wc -l < demo/README.md)" -le 14 ] || fail "the README has more than a dozen lines"

strict='-O2 -Wall -Wextra -Wpedantic -Wconversion -Werror'
case $language in
c)
    make -s -C demo CFLAGS="$strict" || fail "it does not build" ;;
c++)
    need c++
    make -s -C demo CXXFLAGS="$strict" || fail "it does not build" ;;
fortran)
    need gfortran
    make -s -C demo FFLAGS='-std=f2018 -O2 -Wall -Wno-unused-dummy-argument -Werror' || fail "it does not build" ;;
exec)
    need python3
    model='exec:python3 demo/demo.py' ;;
cuda)
    need c++
    model=demo/demo.cu ;;
python)
    python=$build/venv-python/bin/python
    [ -x "$python" ] && "$python" -c 'import gess' || { echo "skipped: no Python with gess"; exit 77; }
    "$python" demo/demo.py > out || fail "$(cat out)"
    grep -E '^(intercept|slope|sigma) ' out | awk '{ print $1 "," $2 }' > table.csv
    figures table.csv
    grep -q PASS out || fail "no verdict: $(cat out)"
    exit 0 ;;
stan)
    make -C demo > out 2>&1 && fail "it builds without BridgeStan"
    grep -q 'no folder ../bridgestan: make BRIDGESTAN=FOLDER' out || fail "$(cat out)"
    sh "$source/tests/stan/build.sh" "$source" "$build/stan" "$folder/demo/demo.stan" || fail "it does not build"
    model=$build/stan/demo_model.so
    data=demo/data.json ;;
*) fail "no such language in this test" ;;
esac
"$gess" sample "$model" --data "$data" --draws 300 --chains 32 -q -o run || fail "it cannot be sampled"
"$gess" summary run --csv > table.csv
figures table.csv
[ "$language" = stan ] || "$gess" check "$model" --data "$data" > out || fail "gess check: $(cat out)"
if [ "$language" = exec ]; then exit 0; fi
# what is wrong with the data is said
[ "$language" = stan ] || {
    echo 'x,y
1,2' > short.csv
    status=0; "$gess" eval "$model" --data short.csv > out 2>&1 < /dev/null || status=$?
    { [ $status -eq 2 ] && grep -q '3 [a-z]* or more' out; } || fail "too few points: status $status, $(cat out)"
    status=0; "$gess" eval "$model" > out 2>&1 < /dev/null || status=$?
    { [ $status -eq 2 ] && grep -q 'give it with --data FILE' out; } || fail "no data: status $status, $(cat out)"
}
