#!/bin/sh
# Chains and starts: --chains auto, --start-scale, --init-from and --best; a run with chains in a trap, which `gess diagnose` fails, and the
# command that it gives, which mends it.
#   starts.sh GESS SOURCE_FOLDER
set -u
source=$2
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"

# same A B WHAT: two runs have the same draws
same()
{
    cmp "$1/draws.gess" "$2/draws.gess" || fail "$3: other draws"
}

# ---- --chains auto: a number by the dimension and the goal, which config.json keeps ----
for threads in 1 2; do
    "$gess" sample gaussian --chains auto --threads $threads -q -o auto$threads || fail "--chains auto"
    grep -q '"chains": "32"' auto$threads/config.json || fail "config.json has no number of chains"
done
"$gess" sample gaussian --chains 32 -q -o thirty || fail "--chains 32"
same auto1 auto2 "--chains auto, threads"
same auto1 thirty "--chains auto and --chains 32"
"$gess" sample --config auto1/config.json -q -o again || fail "--config of --chains auto"
same auto1 again "--chains auto, --config"
"$gess" sample gaussian --chains auto --schedule two-group --warmup 5 --draws 5 -q -o two || fail "two-group, --chains auto"
grep -q '"chains": "64"' two/config.json || fail "--chains auto changes two-group"
"$gess" sample gaussian --chains auto --target-ess 1500 --ensembles 2 --warmup 5 -q -o more || fail "--ensembles, --chains auto"
grep -q '"chains": "64"' more/config.json || fail "--chains auto: another number for two ensembles"
expect 1 'or `auto`' "$gess" sample gaussian --chains many -o bad
rm -r auto1 auto2 thirty again two more

# ---- --start-scale ----
short='--chains 20 --warmup 30 --draws 30 -q'
for model in gaussian stochastic-volatility eight-schools; do
    # shellcheck disable=SC2086
    "$gess" sample $model $short -o plain && "$gess" sample $model $short --start-scale 1 -o one &&
        "$gess" sample $model $short --start-scale 3 -o three || fail "sample $model"
    same plain one "$model, --start-scale 1"
    cmp -s plain/draws.gess three/draws.gess && fail "$model: --start-scale 3 changes nothing"
    "$gess" sample --config three/config.json -q -o again || fail "--config of a scaled run"
    same three again "$model, --config"
    grep -q '"start-scale": "3"' three/config.json || fail "config.json has no start-scale"
    rm -r plain one three again
done
# warm-up of nothing: the first draws show how wide the starts are
"$gess" sample gaussian --chains 200 --warmup 0 --draws 1 --kernel mh --start-scale 100 -q -o wide || fail "wide"
"$gess" summary wide --csv --vars x1 | awk -F, 'NR > 1 { exit !($3 > 80 && $3 < 120) }' || fail "starts are not 100 times as wide"
expect 1 '--start-scale 0: out of range' "$gess" sample gaussian --start-scale 0 -o bad
expect 1 'out of range' "$gess" sample gaussian --start-scale nan -o bad
expect 1 'is about default starts' "$gess" sample gaussian --start-scale 2 --init-from wide -o bad
expect 1 'give it as --init-from DIR' "$gess" sample gaussian --best -o bad
expect 1 'both give starts' "$gess" sample gaussian --init wide --init-from wide -o bad
expect 1 'that run has' "$gess" sample funnel --init-from wide -o bad
expect 1 'there is no run in it' "$gess" sample gaussian --init-from . -o bad
expect 1 'is a file' "$gess" sample gaussian --init-from wide/config.json -o bad
[ ! -e bad ] || fail "a refused run leaves no folder"

# ---- a trap 400 nats deep and 60 sd away, in which a third of the chains start ----
cat > trap.c <<'END'
#include <gess/gess.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    if (getenv("TRAP_SLOW") != NULL) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (size_t i = 0; i < n; i++) {
        double here = 0.0, there = -400.0;
        for (size_t j = 0; j < dim; j++) {
            double u = x[i * dim + j];
            here -= 0.5 * u * u;
            there -= 0.5 * (u - 60.0) * (u - 60.0);
        }
        values[i] = fmax(here, there) + log1p(exp(-fabs(here - there)));
    }
    return 0;
}

static void start(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t i = 0; i < dim; i++) x[i] = (normals[0] > 0.4 ? 60.0 : 0.0) + normals[i];
}

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    (void)data, (void)message, (void)size;
    density->dim = 3;
    density->logp = logp;
    density->start = start;
    return 0;
}
END
cc -std=c17 -D_DEFAULT_SOURCE -O2 -shared -fPIC -I "$source/include" -o trap.so trap.c -lm || fail "the trap does not build"
"$gess" sample ./trap.so --kernel mh --chains 16 --max-evals 300000 -o 'my trap' > said.txt || fail "sample the trap"
grep -q 'DO NOT TRUST.*far apart' said.txt || fail "sample does not say it: $(cat said.txt)"
"$gess" diagnose 'my trap' > out.txt
[ $? -eq 6 ] || fail "diagnose of the trap does not end with 6"
grep -q '^failure (far-apart)' out.txt || fail "no finding far-apart"
# the chains that it names are those whose last draw is near 0
tr -s '\n ' ' ' < out.txt | sed -n 's/.* of 16 chains (\([^)]*\)).*/\1/p' | tr -d ' ' | tr , '\n' |
    awk -F- '{ for (i = $1; i <= $NF; i++) print i }' > named.txt
"$gess" export 'my trap' --to csv -o trap.csv > said.txt || fail "export of the trap"
for chain in $(seq 16); do
    grep -v '^#' "trap.csv/chain-$chain.csv" | tail -n 1 | awk -F, -v c="$chain" '$2 < 30 { print c }'
done > near.txt
cmp named.txt near.txt || fail "other chains are near 0: $(cat named.txt) and $(cat near.txt)"
[ -s named.txt ] || fail "which chains are higher?"
command=$(sed -n 's/^ *`gess \(sample .*\)`$/\1/p' out.txt)
case $command in
"sample ./trap.so --config 'my trap/config.json' --init-from 'my trap' --best --seed 2 -o 'my trap-best'") ;;
*) fail "another command: $command" ;;
esac
eval "\"\$gess\" $command -q" || fail "the command fails: $command"
"$gess" diagnose 'my trap-best' > out.txt || fail "the command does not help: $(cat out.txt)"
"$gess" summary 'my trap-best' --csv --vars 'x*' | awk -F, 'NR > 1 { n += $2 > -0.3 && $2 < 0.3 } END { exit n != 3 }' ||
    fail "means are not near 0"

# ---- the same bytes for any threads; --init DIR; --config; other numbers of chains ----
# shellcheck disable=SC2086
for options in '--chains 16' '--chains 16 --best' '--chains 40 --best' '--chains 7' '--chains 33 --ensembles 3'; do
    first=
    for how in '--threads 1 --block 1' '--threads 3' '--threads 8 --block 4 --speculate 4'; do
        "$gess" sample ./trap.so --init-from 'my trap' $options $how --warmup 20 --draws 20 -q --overwrite -o "run$first" ||
            fail "sample $options"
        [ -z "$first" ] || same run run1 "$options, $how"
        first=1
    done
    "$gess" sample ./trap.so --init 'my trap' $options --warmup 20 --draws 20 -q --overwrite -o run1 || fail "--init DIR"
    same run run1 "--init DIR $options"
    "$gess" sample ./trap.so --config run/config.json -q --overwrite -o run1 || fail "--config $options"
    same run run1 "--config $options"
done
# starts on the command line replace those of --config
printf 'x1,x2,x3\n0,0,0\n1,1,1\n' > two.csv
"$gess" sample ./trap.so --init-from 'my trap' --best --chains 2 --warmup 5 --draws 5 -q -o from || fail "from"
"$gess" sample ./trap.so --config from/config.json --init two.csv -q -o file || fail "--init replaces --init-from and --best"
grep -q '"best": "0"' file/config.json && grep -q '"init-from": null' file/config.json || fail "config.json of the file"
"$gess" sample ./trap.so --config file/config.json --best --init-from 'my trap' -q -o back || fail "--init-from replaces --init"
same from back "--best --init-from over --config"

# ---- resume, when the other run is gone ----
options='./trap.so --chains 16 --warmup 200 --draws 20000 --kernel mh -q'
cp -r 'my trap' other
# shellcheck disable=SC2086
"$gess" sample $options --init-from other --best -o whole || fail "sample the whole"
# shellcheck disable=SC2086
TRAP_SLOW=1 "$gess" sample $options --init-from other --best --checkpoint-every 10 -o killed &
writer=$!
while [ ! -f killed/checkpoint ] && kill -0 $writer 2> kill.txt; do sleep 0.005; done
kill -9 $writer 2> kill.txt
wait $writer 2> wait.txt
[ $? -eq 137 ] || fail "the run ended before it was killed"
rm -r other
"$gess" resume killed -q || fail "resume without the run that it started from"
same whole killed "resumed"

[ $failed -eq 0 ] && echo "starts as asked for"
exit $failed
