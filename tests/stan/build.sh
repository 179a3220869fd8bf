#!/bin/sh
# Builds the real Stan models of this folder: NAME_model.so, with BridgeStan's interface, and NAME_reference, Stan's NUTS.
#   build.sh SOURCE_FOLDER FOLDER NAME...
# A NAME with a slash in it is the path of another model, NAME.stan.
# PyPI's httpstan has the compiler of Stan and the headers; it goes to FOLDER/httpstan once (needs python3-venv and a way
# to PyPI). What is there and newer than its sources is kept.
set -eu
source=$1/tests/stan
folder=$2
shift 2
wanted=4.13.0
mkdir -p "$folder"
cd "$folder"
if [ ! -e "httpstan-$wanted" ]; then
    python3 -m venv venv
    venv/bin/pip -q --disable-pip-version-check install --no-deps --target . "httpstan==$wanted"
    touch "httpstan-$wanted"
fi
stan=$folder/httpstan
flags="-std=c++17 -O2 -w -fPIC -D_REENTRANT -DSTAN_THREADS -DBOOST_DISABLE_ASSERTS -I$stan/include"
compile() # compile SOURCE OBJECT
{
    [ "$2" -nt "$1" ] || g++ $flags -c "$1" -o "$2"
}
compile "$source/shim.cpp" shim.o
compile "$source/reference.cpp" reference.o
for name; do
    model=$source/models/$name.stan
    case $name in
    */*)
        model=$name
        name=$(basename "$name" .stan) ;;
    esac
    [ "$name.cpp" -nt "$model" ] ||
        "$stan/stanc" --o="$name.cpp" --name="${name}_model" --filename-in-msg="$name.stan" "$model"
    compile "$name.cpp" "$name.o"
    g++ -shared "$name.o" shim.o -o "${name}_model.so" -L"$stan/lib" -ltbb -Wl,-rpath,"$stan/lib"
    g++ "$name.o" reference.o -o "${name}_reference" -L"$stan/lib" -ltbb -Wl,-rpath,"$stan/lib" -lpthread
done
