#!/bin/sh
# Installs into a scratch prefix and uses gess from there as others would: the examples by pkg-config
# and by CMake, a model of `gess new` by the commands of its README, and the data of the built-in models.
#   install.sh SOURCE_FOLDER BUILD_FOLDER
# shellcheck disable=SC2046,SC2086
set -eu
source=$1
build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset GESS_DATA

fail()
{
    echo "install: $*" >&2
    exit 1
}

# near TEXT FIELD TRUTH TOLERANCE: a number in a line of text, by its place there
near()
{
    echo "$1" | awk -v i="$2" -v truth="$3" -v tolerance="$4" '{ d = $i - truth; exit !(d < tolerance && -d < tolerance) }' ||
        fail "'$1': field $2 should be near $3"
}

cmake --install "$build" --prefix "$folder/first" > log || fail "cmake --install: $(cat log)"
mv first prefix # an installation may be moved
prefix=$folder/prefix
gess=$prefix/bin/gess
pc=$(find "$prefix" -name gess.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
PATH=$prefix/bin:$PATH
export PKG_CONFIG_PATH PATH
"$gess" --version | grep -q '^gess ' || fail "the installed command does not run"

# ---- the examples ----
mkdir examples
cp "$source"/examples/*.* examples
strict='-O2 -Wall -Wextra -Wpedantic -Wconversion -Werror'

# check NAME PROGRAM [PROGRAM_OF_shortest]
check()
{
    sh "$source/tests/examples/check.sh" "$@" || fail "the example $1"
}

# the means and what else is wanted, from summary.json: wanted NAME TRUTH TOLERANCE
wanted()
{
    line=$(tr -d ',"' < run/summary.json | awk -v name="$1" '$1 == "name:" { on = $2 == name } on && $1 == "mean:" { print; exit }')
    [ -n "$line" ] || fail "summary.json has no mean of $1"
    near "$line" 2 "$2" "$3"
}

check_fortran()
{
    "$gess" sample "./$1" --draws 500 --quiet -o run || fail "the Fortran model cannot be sampled"
    wanted height 3 0.03
    wanted rate 0.5 0.03
    wanted area 1.5 0.1
    rm -r run
}

export LD_LIBRARY_PATH
programs='shortest blobs read_run stop two_runs'
for name in $programs; do
    cc -std=c17 $strict "examples/$name.c" $(pkg-config --cflags --libs gess) -lm -lpthread -o "$name" ||
        fail "$name.c does not build by pkg-config"
    check "$name" "$folder/$name" "$folder/shortest"
done
c++ -std=c++17 $strict examples/sample.cpp $(pkg-config --cflags --libs gess) -o sample_cpp || fail "sample.cpp does not build by pkg-config"
check sample_cpp "$folder/sample_cpp"
"$gess" sample banana --chains 4 --draws 300 --quiet -o run || fail "banana cannot be sampled"
./read_run run > out || fail "read_run failed"
{ [ "$(wc -l < out)" -eq 8 ] && grep -q 'chain 3: 300 draws' out && grep -qE '^(PASS|FAIL), [0-9]+ findings' out; } ||
    fail "read_run printed $(cat out)"
# exporters are found beside the libraries of an installation
formats=$("$gess" --version | sed -n 's/^exports: //p')
[ "$formats" = "$("$build"/gess --version | sed -n 's/^exports: //p')" ] || fail "the installed command has the exports $formats"
for format in $formats; do "$gess" export run --to "$format" > out || fail "export to $format: $(cat out)"; done
rm -r run
fortran=$(command -v gfortran || true)
if [ -n "$fortran" ]; then
    "$fortran" -std=f2018 -O2 -Wall -Wno-unused-dummy-argument -Werror -fPIC -shared -o sample_f.so examples/sample.f90 ||
        fail "sample.f90 does not build"
    check_fortran sample_f.so
    "$fortran" -std=f2018 -O2 -Wall -Wno-unused-dummy-argument -Werror "$prefix/include/gess/gess.f90" examples/drive.f90 \
        $(pkg-config --libs gess) -o drive || fail "drive.f90 does not build by pkg-config"
    ./drive run > out || fail "drive: $(cat out)"
    grep -q '^mean of y:  [01]' out || fail "drive printed $(cat out)"
    rm -r run
else
    echo "there is no gfortran: the Fortran example is passed over"
fi
unset LD_LIBRARY_PATH

{ cmake -S examples -B by_cmake -DCMAKE_PREFIX_PATH="$prefix" && cmake --build by_cmake; } > log 2>&1 ||
    fail "the examples do not build by CMake: $(cat log)"
for name in $programs sample_cpp; do check "$name" "$folder/by_cmake/$name" "$folder/by_cmake/shortest"; done
if [ -n "$fortran" ]; then
    check_fortran by_cmake/sample_f.so
    ./by_cmake/drive run > out || fail "drive, built by CMake: $(cat out)"
    rm -r run
fi

# ---- a model of one's own ----
gess new demo > out
for file in demo.c data.csv Makefile README.md; do
    [ -s demo/$file ] || fail "gess new: no demo/$file"
    if grep -q '@[A-Z]*@' demo/$file; then fail "gess new: demo/$file still has a mark in it"; fi
done
check_demo()
{
    gess sample ./demo/demo.so --data demo/data.csv --draws 200 --chains 20 --quiet -o run || fail "the new model cannot be sampled"
    gess summary run > out
    for name in intercept slope sigma mean_at_20 lp__; do
        grep -q "^$name " out || fail "the summary of the new model has no $name: $(cat out)"
    done
    wanted intercept 1.22 0.1 # least squares: 1.22, 0.97
    wanted slope 0.97 0.03
    wanted mean_at_20 20.6 0.3
    rm -r run demo/demo.so
}
# the README's command as it stands there
command=$(sed -n 's/^Without make: `\(.*\)`$/\1/p' demo/README.md)
[ -n "$command" ] || fail "the README of the new model has no command"
(cd demo && eval "$command") || fail "README's command does not build the new model: $command"
check_demo
make -s -C demo CFLAGS="$strict" || fail "make does not build the new model with $strict"
check_demo
PKG_CONFIG_PATH=$folder/nowhere make -s -C demo || fail "make does not build the new model where pkg-config does not know gess"
(cd demo && echo 1,1,0.5 | gess eval ./demo.so --data data.csv > ../out) || fail "the new model cannot be evaluated"
[ "$(wc -l < out)" -eq 2 ] || fail "gess eval printed $(cat out)"

if [ -n "$fortran" ]; then
    gess new line --lang fortran > out
    make -s -C line FC="$fortran" || fail "make does not build the new model in Fortran"
    gess sample ./line/line.so --data line/data.csv --draws 200 --chains 20 --quiet -o run || fail "the new Fortran model cannot be sampled"
    wanted mean_at_20 20.6 0.3
    rm -r run
    [ "$(sed -n 's/^GESS_F90 ?= //p' line/Makefile)" = "$(realpath "$prefix")/include/gess/gess.f90" ] ||
        fail "the new Fortran model does not take the installed module: $(cat line/Makefile)"
fi

status=0; gess new demo 2> out || status=$?
{ [ $status -eq 1 ] && grep -q "exists already" out; } || fail "gess new on a folder that is there: status $status, $(cat out)"
for name in '' 9lives ../up a.b 'a b' -- "$(printf '%070d' 0 | tr 0 a)"; do
    status=0; gess new -- "$name" 2> out || status=$?
    [ $status -eq 1 ] || fail "gess new '$name': status $status, $(cat out)"
done
mkdir locked
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w locked
    status=0; (cd locked && gess new demo 2> ../out) || status=$?
    [ $status -eq 5 ] || fail "gess new in a folder that cannot be written: status $status, $(cat out)"
fi

# ---- what the benchmarks read ----
for file in models.py peers/peers.py peers/requirements.txt reference/rats.csv; do
    [ -e "$prefix/share/gess/bench/$file" ] || fail "bench/$file is not installed"
done

# ---- the data of the built-in models: the installed ones, not those of the source tree ----
zeros=$(awk 'BEGIN { for (i = 1; i <= 25; i++) printf "%s0", (i > 1 ? "," : "") }')
echo "$zeros" | gess eval german-credit > out || fail "german-credit has no data after installation"
near "$(sed -n 2p out)" 1 -773.685 0.001
file=$(find "$prefix" -name german_credit.csv)
[ -n "$file" ] || fail "the data of german-credit are not installed"
echo '1,2' > "$file"
status=0; echo "$zeros" | gess eval german-credit > out 2>&1 || status=$?
[ $status -eq 2 ] || [ $status -eq 1 ] || fail "broken data: status $status; the installed data were not read: $(cat out)"
grep -q "$file" out || fail "the message does not name the installed file $file: $(cat out)"
echo "installed, built and sampled"
