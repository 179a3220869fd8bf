#!/bin/sh
# The source tarball: what git has and nothing else, the same from a clone and from the tarball itself, and a tree that can
# be configured (and with `build`, built and used) where there is no git. Exit status 77 outside a clone.
#   dist.sh SOURCE_FOLDER [build]
set -eu
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail()
{
    echo "FAILED: $*"
    exit 1
}

cd "$source"
[ -e .git ] && git rev-parse --verify --quiet HEAD > "$folder/head" || { echo 'this is no clone'; exit 77; }
sh packaging/dist.sh "$folder/first.tar.gz" > "$folder/out"
sh packaging/dist.sh "$folder/second.tar.gz" > "$folder/out"
cmp "$folder/first.tar.gz" "$folder/second.tar.gz" || fail 'the same commit gives other bytes'
git ls-tree -r --name-only HEAD | sort > "$folder/wanted"
cd "$folder"
tar -xzf first.tar.gz
tree=$(ls -d gess-*)
(cd "$tree" && find . -type f -o -type l) | sed 's,^\./,,' | sort > found
diff wanted found || fail 'the tarball has other files than the commit'

# without git on the path: a folder with links to all other programs
mkdir bin
old_ifs=$IFS
IFS=:
for place in $PATH; do
    for program in "$place"/*; do
        name=${program##*/}
        case $name in git | git-*) continue ;; esac
        [ -x "$program" ] && [ ! -e "bin/$name" ] && ln -s "$program" "bin/$name"
    done
done
IFS=$old_ifs
PATH=$folder/bin
export PATH
! command -v git || fail 'git is still there'
sh "$tree/packaging/dist.sh" "$folder/third.tar.gz" > out
tar -tzf third.tar.gz | sed 's,^[^/]*/,,' | grep -v '/$' | grep . | sort > again
diff wanted again || fail 'a tarball made of a tarball has other files'
cmake -S "$tree" -B build -DGESS_TESTS=OFF > log 2>&1 || fail "it cannot be configured: $(tail -n 5 log)"
if [ "${2-}" = build ]; then
    cmake --build build -j "$(nproc)" --target gess_command > log 2>&1 || fail "it cannot be built: $(tail -n 20 log)"
    [ "gess-$(build/gess --version | sed -n 's/^gess //p')" = "$tree" ] || fail "the version: $(build/gess --version)"
    build/gess sample german-credit -q -o run && build/gess diagnose run > out || fail "its command: $(cat out)"
fi
