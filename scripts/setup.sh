# What ./run, ./test and `make test-long` share: the packages, and how they get installed. To be sourced.
# shellcheck shell=sh disable=SC2034,SC2086

build_packages='gcc libc6-dev make cmake pkgconf
    librandom123-dev libjansson-dev zlib1g-dev libdeflate-dev libjs-chart.js
    libnetcdf-dev libhdf5-dev'
test_packages='g++ gfortran libcmocka-dev libopenblas0-pthread strace
    libopenmpi-dev openmpi-bin chromium fonts-dejavu-core python3 python3-cffi
    python3-venv python3-dev gnuplot-nox'
# The tests of the Python package get theirs from PyPI into build/venv-python (tests/python/python.sh).
# What `make test-long` needs beside these, and installs: programs that read exports. Their Python packages
# come from PyPI into build/venv (tests/readers/readers.sh).
long_packages='r-base-core r-cran-posterior r-cran-coda r-cran-jsonlite
    slurmctld slurmd slurm-client munge
    clang musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user bzip2'

# What `make python` needs beside those of ./run.
python_packages='python3 python3-venv python3-dev'

# What `make deb` needs beside those of ./run.
deb_packages='build-essential debhelper dh-python dpkg-dev lintian libopenmpi-dev python3-cffi python3-dev python3-setuptools'

# Stops, with the command that someone with the right to has to run.
ask_for()
{
    printf '%s\n' "These packages are missing: $*" "Install them as root, then start $0 again:" '' \
        "    apt-get update && apt-get install -y --no-install-recommends $*" '' >&2
    exit 1
}

# need PACKAGE...: installs those that are not there, and only those.
need()
{
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is not a Debian or Ubuntu system: make sure of these, by Debian's names: $*" >&2
        return
    fi
    missing=
    for package; do
        case $(dpkg-query -W -f '${Status} ' "$package" 2>/dev/null) in
        *'ok installed'*) ;;
        *) missing="$missing $package" ;;
        esac
    done
    set -- $missing
    [ $# -gt 0 ] || return 0

    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || ask_for "$@"
        as_root=sudo
        $as_root true || ask_for "$@"
    fi
    echo "Installing $*"
    $as_root apt-get -qq update
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq install -y --no-install-recommends "$@" >/dev/null
}
