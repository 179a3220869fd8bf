#!/bin/sh
# Builds jansson and zlib for another compiler, statically, from Debian's source packages, and leaves Random123's headers
# beside them: what libgess needs there.
#   libraries.sh CC FOLDER [PROCESSOR]     PROCESSOR: as CMake calls it, such as aarch64, if it is not this one
set -eu
cc=$1
folder=$2
processor=${3:-}
mkdir -p "$folder/source" "$folder/include"
folder=$(cd "$folder" && pwd)
[ ! -e "$folder/done" ] || exit 0
cd "$folder/source"

# ---- the sources, by apt's own lists, or by a list of sources beside them ----
apt_options=
if ! apt-get -qq --print-uris source jansson zlib >/dev/null 2>&1; then
    mirror=$(sed -n 's/^URIs: *//p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\) .*/\2/p' /etc/apt/sources.list \
        /etc/apt/sources.list.d/*debian* 2>/dev/null | head -n 1)
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    echo "deb-src $mirror $release main" >list
    mkdir -p lists/partial cache/archives/partial
    apt_options="-o Dir::Etc::sourcelist=$PWD/list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/lists
        -o Dir::Cache=$PWD/cache -o APT::Sandbox::User=root"
    # shellcheck disable=SC2086
    apt-get $apt_options -qq update
fi
# shellcheck disable=SC2086
apt-get $apt_options -qq --download-only source jansson zlib
for archive in jansson_*.orig.tar.* zlib_*.orig.tar.*; do tar -xf "$archive"; done

# ---- jansson ----
cd "$folder"/source/jansson-*/
cmake -S . -B build -DCMAKE_C_COMPILER="$cc" ${processor:+-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$processor"} \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR=lib -DJANSSON_BUILD_DOCS=OFF \
    -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF -Wno-dev >/dev/null
cmake --build build --target install >/dev/null

# ---- zlib ----
cd "$folder"/source/zlib-*/
CC="$cc" CFLAGS='-O2 -fPIC' ./configure --static --prefix="$folder" >/dev/null
make -s libz.a >/dev/null
cp libz.a "$folder/lib/"
cp zlib.h zconf.h "$folder/include/"
mkdir -p "$folder/lib/pkgconfig"
for library in jansson:jansson zlib:z; do
    printf 'Name: %s\nDescription: %s\nVersion: 0\nCflags: -I%s/include\nLibs: -L%s/lib -l%s\n' "${library%:*}" "${library%:*}" \
        "$folder" "$folder" "${library#*:}" >"$folder/lib/pkgconfig/${library%:*}.pc"
done
random=$(find /usr/include /usr/local/include -maxdepth 1 -name Random123 | head -n 1)
cp -r "$random" "$folder/include/"
touch "$folder/done"
