#!/bin/sh
# Faults with several ranks: every time one message, one status, no hang, and a checkpoint from which any number of
# ranks resumes with the same bytes.
#   faults.sh GESS SOURCE_FOLDER
# shellcheck disable=SC2086
set -u
. "$(dirname "$0")/launch.sh"
sleeping
export SLEEPING_SECONDS=0.0002
limit=120 # seconds; what takes longer hangs

# said TEXT: gess wrote one message, which contains TEXT
said()
{
    [ "$(grep -c '^gess: ' err.txt)" -eq 1 ] || fail "$(grep -c '^gess: ' err.txt) messages in place of one: $1"
    grep -q "^gess: .*$1" err.txt || fail "no \"$1\""
}

# ---- no library: refused, not run several times ----
mkdir no_mpi
cp "$gess" no_mpi/gess
ranks 3 ./no_mpi/gess sample gaussian --draws 5 --warmup 5 -q -o refused
[ $? -eq 1 ] || fail "without the library: status"
said 'libgess_mpi.so'
[ ! -e refused ] || fail "without the library: something was run"
# ... by rank 0, even if the others have found out long before
printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" -ne 0 ] || sleep 1\nexec "$@"\n' > slow.sh
chmod +x slow.sh
ranks 3 ./slow.sh ./no_mpi/gess sample gaussian --draws 5 --warmup 5 -q -o refused
[ $? -eq 1 ] || fail "without the library, rank 0 late: status"
said 'libgess_mpi.so'
ranks 3 ./no_mpi/gess --version > out.txt || fail "--version on ranks"
[ "$(grep -c '^gess ' out.txt)" -eq 1 ] || fail "a command without a run prints on several ranks"
grep -q '^MPI: no' out.txt || fail "--version does not say that there is no MPI"
"$gess" --version | grep -q '^MPI: yes' || fail "--version does not say that there is MPI"

# ---- a launcher of another MPI: every process would be a world of one rank ----
for rank in 0 1; do
    SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=$rank timeout 30 "$gess" sample gaussian --draws 5 --warmup 5 -q -o refused 2> err$rank.txt
    [ $? -eq 1 ] || fail "a foreign launcher: status"
done
cat err0.txt err1.txt > err.txt
said 'MPI sees one process'
[ ! -e refused ] || fail "a foreign launcher: something was run"

# ---- mistakes of the user: one message ----
ranks 3 "$gess" sample ./nowhere.so -q -o refused
[ $? -ne 0 ] || fail "no model: status"
said 'nowhere.so'
ranks 3 "$gess" sample gaussian --no-such-option -q -o refused
[ $? -eq 1 ] || fail "no such option: status"
[ "$(grep -c 'no-such-option' err.txt)" -eq 1 ] || fail "an unknown option is told more than once"
ranks 3 "$gess" sample gaussian --schedule nonsense -q -o refused
[ $? -eq 1 ] || fail "no such schedule: status"
said 'nonsense'
ranks 3 "$gess" sample --help > out.txt || fail "--help"
[ "$(grep -c 'Usage: ' out.txt)" -eq 1 ] || fail "--help comes more than once"

# ---- a model that one rank does not have ----
cat > only.sh <<'SH'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" -ne 2 ] || cd /
exec "$@"
SH
chmod +x only.sh
ranks 3 ./only.sh "$gess" sample ./sleeping.so --draws 5 --warmup 5 -q -o "$folder/lacking"
[ $? -ne 0 ] || fail "a rank without the model: status"
said 'rank 2: .*sleeping.so'
# ... and says so before rank 0, which takes its time to load it, has begun a run
cat > late.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void load(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank != NULL && strcmp(rank, "0") == 0) sleep(1);
}
C
cc -D_DEFAULT_SOURCE -O2 -shared -fPIC -I "$source/include" -o late.so "$source/bench/mpi/sleeping.c" late.c -lm ||
    fail "the late model does not build"
timeout -k 5 $limit mpirun -n 3 ./spoken.sh "$folder/late.txt" ./only.sh "$gess" sample ./late.so --draws 5 --warmup 5 -q -o "$folder/lacking2" &
late=$!
# ... or only rank 0
sed 's/-ne 2/-ne 0/' only.sh > other.sh
chmod +x other.sh
ranks 3 ./other.sh "$gess" sample ./sleeping.so --draws 5 --warmup 5 -q -o "$folder/lacking3"
status=$?
[ $status -ne 0 ] && [ $status -ne 124 ] || fail "rank 0 without the model: status $status"
said 'sleeping.so'
wait $late
status=$?
mv late.txt err.txt
[ $status -ne 0 ] && [ $status -ne 124 ] || fail "a rank without the model, rank 0 late: status $status"
said 'rank 2: .*late.so'

# ---- a whole run to compare with; then errors of densities on a rank ----
options="./sleeping.so --schedule pooled --chains 30 --warmup 30 --draws 400 --threads 1 -q --checkpoint-every 20"
SLEEPING_SECONDS=0 "$gess" sample $options -o whole || fail "sample"
ranks 2 "$gess" resume whole > out.txt || fail "resume of a run that is complete: status $?"
[ "$(grep -c 'is complete' out.txt)" -eq 1 ] || fail "resume of a run that is complete: not said once"
# These take some seconds, so they run in the background and are checked below. A rank hangs during warm-up, so that a
# new fit waits for it until the time limit for silence; or in sampling, where only the end of the run waits for it.
hangs()
{
    SLEEPING_SECONDS=$2 SLEEPING_FAULT=2:hang:$1 \
        timeout -k 5 $limit mpirun -n 3 "$gess" sample $options -o hang$1 2> err$1.txt
}
hangs 100 0.001 &
hang100=$!
hangs 900 0.0002 &
hang900=$!
goes_on()
{
    SLEEPING_SECONDS=0.00002 ranks "$1" "$gess" resume run -q || fail "resume with $1 ranks after $2: status $?"
    cmp whole/draws.gess run/draws.gess || fail "resume with $1 ranks after $2: other draws"
}
# unharmed STATUS WHOLE RUN WHAT: the run succeeded with the draws of WHOLE and without a message
unharmed()
{
    [ "$1" -eq 0 ] || fail "$4: status $1"
    cmp "$2/draws.gess" "$3/draws.gess" || fail "$4: other draws"
    [ "$(grep -c '^gess: ' err.txt)" -eq 0 ] || fail "$4: a message"
}
# ended STATUS BEGUN WHAT: the run failed within seconds, beside what a busy machine takes for processes that do nothing
ended()
{
    [ "$1" -ne 0 ] && [ "$1" -ne 124 ] || fail "$3: status $1"
    over=$(date +%s)
    mpirun -n 3 "$gess" --version > idle.txt 2>&1
    [ $((over - $2)) -le $((12 + 3 * ($(date +%s) - over))) ] || fail "$3: not within seconds"
}
for fault in error infinity; do
    rm -rf run
    SLEEPING_FAULT=1:$fault:300 ranks 3 "$gess" sample $options -o run
    status=$?
    [ $status -eq 2 ] || fail "$fault on a rank: status $status"
    said 'rank 1 on '
    goes_on 2 "$fault on a rank"
done
rm -rf run
SLEEPING_FAULT=0:error:300 ranks 3 "$gess" sample $options -o run
[ $? -eq 2 ] || fail "an error on rank 0: status"
said 'error 7'
goes_on 4 "an error on rank 0"

# ---- a rank dies, in three ways; a rank hangs, and others do its tasks ----
for rank in 0 1 2; do
    case $rank in
    0) kind=crash words='crashed with signal 6' ;;
    1) kind=thread words='ended its thread' ;;
    2) kind=exit words='ended the process with exit status 0' ;;
    esac
    rm -rf run
    begun=$(date +%s)
    SLEEPING_FAULT=$rank:$kind:300 ranks 3 "$gess" sample $options -o run
    status=$?
    ended $status "$begun" "a crash of rank $rank"
    [ $status -eq 2 ] || fail "a crash of rank $rank: status $status"
    said "rank $rank on .*: the density $words.* while it was evaluating the point .* of chain [0-9]*.*; to see it alone: .*; to continue from the last checkpoint: gess resume run"
    goes_on $((4 - rank)) "a crash of rank $rank"
done
for hang in 100:$hang100 900:$hang900; do
    call=${hang%:*}
    wait "${hang#*:}"
    status=$?
    mv err$call.txt err.txt
    unharmed $status whole hang$call "a rank that hangs at call $call"
done

# ---- the same for ranks that speculate for others: with two chains, two or three of four ranks do ----
few="./sleeping.so --schedule pooled --chains 2 --warmup 20 --draws 120 --threads 1 -q --checkpoint-every 20"
export SLEEPING_SHELL=0.1
SLEEPING_SECONDS=0 "$gess" sample $few -o whole3 || fail "sample, few chains"
SLEEPING_SECONDS=0.0015 ranks 4 "$gess" sample $few -o clean || fail "few chains: status $?"
cmp whole3/draws.gess clean/draws.gess || fail "few chains: other draws"
for rank in 1 2 3; do
    SLEEPING_SECONDS=0.0015 SLEEPING_FAULT=$rank:hang:40 timeout -k 5 $limit mpirun -n 4 "$gess" sample $few -o few$rank 2> few$rank.txt &
    eval "few$rank=$!"
done
helped=$(grep -c 'assigned to speculate [1-9]' clean/log.txt)
[ "$helped" -ge 2 ] || fail "only $helped of 3 ranks were assigned to speculate"
for rank in 1 2 3; do
    eval "wait \$few$rank"
    status=$?
    mv few$rank.txt err.txt
    unharmed $status whole3 few$rank "few chains, rank $rank hangs"
    rm -rf run
    begun=$(date +%s)
    SLEEPING_SECONDS=0.0015 SLEEPING_FAULT=$rank:crash:40 ranks 4 "$gess" sample $few -o run
    ended $? "$begun" "few chains, a crash of rank $rank"
    SLEEPING_SECONDS=0.0003 ranks $((5 - rank)) "$gess" resume run -q || fail "few chains, resume after a crash of rank $rank: status $?"
    cmp whole3/draws.gess run/draws.gess || fail "few chains, resume after a crash of rank $rank: other draws"
    # an error at an unused point is ignored; at a used point it ends the run
    rm -rf run
    SLEEPING_SECONDS=0.0015 SLEEPING_FAULT=$rank:error:40 ranks 4 "$gess" sample $few -o run
    status=$?
    case $status in
    0) cmp whole3/draws.gess run/draws.gess || fail "few chains, an error on rank $rank: other draws" ;;
    2) said 'rank [0-9]* on \|error 7' ;;
    *) fail "few chains, an error on rank $rank: status $status" ;;
    esac
done
unset SLEEPING_SHELL

# ---- signals: from the launcher, and to one rank as batch systems do ----
drawing() { [ -e run/draws.gess ] && [ "$(wc -c < run/draws.gess)" -gt 20000 ]; }
under_way()
{
    tries=0
    until drawing; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || fail "no draws came"
        sleep 0.02
    done
}
longer="./sleeping.so --schedule pooled --chains 30 --warmup 30 --draws 2500 --threads 1 -q --checkpoint-every 200"
SLEEPING_SECONDS=0 "$gess" sample $longer -o whole2 || fail "sample"
stopped=0
for how in launcher rank1 rank0; do
    rm -rf run
    : > err.txt
    SLEEPING_SECONDS=0.0004 timeout -k 5 $limit mpirun -n 3 ./spoken.sh "$folder/err.txt" "$gess" sample $longer -o run &
    job=$!
    under_way
    launcher=$(pgrep -P $job | head -n 1)
    case $how in
    launcher) kill -USR1 "$launcher" ;;
    *) for process in $(pgrep -P "$launcher"); do
        grep -qz "^OMPI_COMM_WORLD_RANK=${how#rank}\$" "/proc/$process/environ" && kill -TERM "$process"
    done ;;
    esac
    wait $job
    status=$?
    if [ $status -eq 3 ]; then
        stopped=$((stopped + 1))
        said 'gess resume run'
    elif [ $status -ne 0 ]; then # it may have been faster
        fail "a signal to $how: status $status"
    fi
    SLEEPING_SECONDS=0 ranks 2 "$gess" resume run -q || fail "resume after a signal to $how: status $?"
    cmp whole2/draws.gess run/draws.gess || fail "a signal to $how: other draws"
done
[ $stopped -ge 2 ] || fail "only $stopped of 3 signals came in time"

# ---- the end of a job, as Slurm tells it ----
rm -rf run
SLURM_JOB_END_TIME=$(($(date +%s) + 7)) ranks 2 "$gess" sample ./sleeping.so --warmup 5 --draws 1e9 -q -o run
[ $? -eq 3 ] || fail "SLURM_JOB_END_TIME: status"
said 'max-time'
echo "refusals, messages, errors, crashes, hangs, $stopped signals: as they should be"
