#!/bin/sh
# Where memory is short, a run ends with a message and exit status 4, or goes on: it neither hangs nor crashes.
#   memory.sh GESS
set -eu
gess=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
if ! (ulimit -v 500000) 2>/dev/null; then
    echo 'no limit of memory can be set here'
    exit 77
fi

# limited KILOBYTES: the exit status, in $status, and what the command said, in `said`
limited()
{
    rm -rf run
    status=0
    (
        ulimit -v "$1"
        exec timeout -s KILL 120 "$gess" sample rats --draws 50 --seed 3 --threads 2 --quiet -o run
    ) >said 2>&1 || status=$?
}

for kilobytes in 20000 30000 45000 60000 80000 110000 150000 200000 280000 500000; do
    limited $kilobytes
    case $status in
    0) ;;
    4)
        grep -qE 'out of memory|cannot start (thread|the thread|a thread)' said || {
            echo "with $kilobytes kB it does not say that memory was short: $(cat said)"
            exit 1
        }
        ;;
    *)
        echo "with $kilobytes kB it ends with status $status: $(cat said)"
        exit 1
        ;;
    esac
    [ $kilobytes -ne 20000 ] || [ $status -eq 4 ] || { echo 'the limit does not limit'; exit 1; }
done
[ $status -eq 0 ] || { echo "500,000 kB are not enough: $(cat said)"; exit 1; }
