#!/bin/sh
# Builds the Debian packages into build/deb, from the committed files or, outside a clone, from all files of the source
# tree, and checks them with lintian. `make deb` calls it.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh
need $build_packages $deb_packages

version=$(sed -n 's/^project(gess VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
out=$PWD/build/deb
tree=$out/gess-$version
rm -rf "$out"
mkdir -p "$out"
sh packaging/dist.sh "$out/gess_$version.orig.tar.gz"
tar -C "$out" -xzf "$out/gess_$version.orig.tar.gz"
cp -r packaging/debian "$tree/debian"
cd "$tree"
dpkg-buildpackage --no-sign --build=full -j"$(nproc)" > "$out/build.log" 2>&1 || {
    tail -n 30 "$out/build.log"
    exit 1
}
cd ..
rm -rf "$tree"
# reported: what has to be mended; the tag of no initial bug report is for packages of Debian itself
user=
if [ "$(id -u)" -eq 0 ]; then user=--allow-root; fi
lintian $user --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs ./*.changes
ls ./*.deb
