#!/bin/sh
# --device: what cannot run on a device is refused with words, before anything is written; `auto` falls back to the
# processor, says so in log.txt, and changes no draw.
#   device.sh GESS SOURCE_FOLDER
set -u
. "$2/tests/command.sh"

for wrong in gpu cuda:x cuda: cuda:1, cuda:,1 cuda:1,1 cuda:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16; do
    expect 1 'it must be cpu, cuda, cuda:N' "$gess" sample gaussian --device $wrong --out none
done
expect 1 'only the kernel gess runs there' "$gess" sample gaussian --device cuda --kernel ess --out none
expect 1 'on the processor only' "$gess" sample gaussian --device cuda --schedule tempering --out none
expect 1 'has no code for a GPU' "$gess" sample ionosphere --device cuda --out none
expect 1 'exclude each other' "$gess" sample gaussian --device cuda --isolate --out none
[ ! -e none ] || fail 'a run that was refused left a folder'

run='--chains 16 --draws 30 --quiet'
expect 0 '' "$gess" sample gaussian $run --out plain
expect 0 '' "$gess" sample gaussian $run --device auto --out auto
cmp plain/draws.gess auto/draws.gess || fail 'auto has other draws'
grep -q 'device: ' auto/log.txt || fail 'log.txt does not say which device was used'
expect 0 '' "$gess" sample ionosphere:points=20 $run --device auto --max-warmup-evals 2000 --out none
grep -q 'has no code for a GPU' none/log.txt || fail 'log.txt does not say why it is the processor'
expect 0 '' "$gess" resume plain --draws 40 --device auto --quiet
exit $failed
