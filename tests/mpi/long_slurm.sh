#!/bin/sh
# The job scripts of examples/slurm under a real Slurm: slurmctld, two slurmd and munge on this host.
#   long_slurm.sh GESS SOURCE_FOLDER
# shellcheck disable=SC2086
set -u
. "$(dirname "$0")/launch.sh"
. "$source/tests/slurm/cluster.sh"
[ "$(id -u)" -eq 0 ] || { echo "starting a Slurm cluster needs root"; exit 77; }
cluster_need || { echo "Slurm or munge is not installed"; exit 77; }
sleeping
cluster_start "$folder/cluster" || { cluster_stop; tail -n 5 cluster/*.log cluster/*.out; fail "the cluster did not start"; }
trap 'cluster_stop; rm -rf "$folder"' EXIT
export GESS="$gess"
# both nodes are one host, so their Open MPI shared-memory files would conflict
export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
scripts=$source/examples/slurm

# ended JOB SECONDS: waits until the job has left the queue
ended()
{
    tries=0
    while [ -n "$(squeue -h -j "$1" 2> /dev/null)" ]; do
        tries=$((tries + 1))
        [ $tries -lt "$2" ] || fail "job $1 did not end: $(squeue -j "$1")"
        sleep 1
    done
}
submit() { sbatch --parsable --overcommit --oversubscribe "$@"; }

# ---- one run on two nodes: the bytes of one process ----
options='german-credit --chains 40 --max-warmup-evals 20000 --draws 100 --threads 1 --seed 5'
"$gess" sample $options -q -o whole || fail "sample"
job=$(submit --nodes=2 --ntasks-per-node=2 -o job.txt "$scripts/job.sbatch" $options -o run) || fail "sbatch"
ended "$job" 60
cmp whole/draws.gess run/draws.gess || { cat job.txt; fail "srun on two nodes: other draws"; }
[ "$(grep -c '  rank [1-3] ' run/log.txt)" -eq 3 ] || fail "not four ranks: $(cat run/log.txt)"

# ---- an array ----
job=$(submit --array=1-3 -o array-%a.txt "$scripts/ensembles.sbatch" german-credit array --chains 20 --warmup 20 --draws 20 --threads 1)
ended "$job" 90
for task in 1 2 3; do
    [ -s array-$task/summary.json ] || { cat array-$task.txt; fail "task $task of the array has no summary"; }
done
cmp -s array-1/draws.gess array-2/draws.gess && fail "two tasks of the array have the same draws"

# ---- scancel: SIGTERM to all ranks; then resume ----
export SLEEPING_SECONDS=0.0005
long='./sleeping.so --schedule pooled --chains 30 --warmup 30 --draws 3000 --threads 1'
SLEEPING_SECONDS=0 "$gess" sample $long -q -o whole2 || fail "sample"
job=$(submit --nodes=2 -o cancel.txt "$scripts/job.sbatch" $long -o run2)
tries=0
until [ -e run2/draws.gess ] && [ "$(wc -c < run2/draws.gess)" -gt 20000 ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { cat cancel.txt; fail "no draws came"; }
    sleep 0.1
done
scancel "$job"
ended "$job" 30
grep -q 'gess resume run2' cancel.txt || { cat cancel.txt; fail "scancel: it did not stop cleanly"; }
SLEEPING_SECONDS=0 "$gess" resume run2 -q || fail "resume after scancel"
cmp whole2/draws.gess run2/draws.gess || fail "scancel and resume: other draws"

# ---- a rank is killed: the others end too, without help from srun ----
job=$(submit --nodes=2 -o kill.txt --wrap "srun --kill-on-bad-exit=0 $gess sample $long -q -o run3")
tries=0
until [ -e run3/draws.gess ] && [ "$(wc -c < run3/draws.gess)" -gt 20000 ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { cat kill.txt; fail "no draws came"; }
    sleep 0.1
done
for process in $(pgrep -f "^$gess sample"); do
    tr '\0' '\n' < "/proc/$process/environ" | grep -q '^SLURM_PROCID=1$' && kill -9 "$process"
done
begun=$(date +%s)
while pgrep -f "^$gess sample" > /dev/null; do
    [ $(($(date +%s) - begun)) -lt 12 ] || fail "ranks live on after one was killed"
    sleep 0.2
done
ended "$job" 30
SLEEPING_SECONDS=0 "$gess" resume run3 -q || fail "resume after a kill"
cmp whole2/draws.gess run3/draws.gess || fail "a kill and resume: other draws"

# ---- requeue ----
export GESS_MAX_TIME=4s
job=$(submit --nodes=2 -o requeue.txt "$scripts/requeue.sbatch" ./sleeping.so run4 --schedule pooled --chains 30 --warmup 30 --draws 3000 --threads 1)
tries=0
until [ -s run4/summary.json ] && grep -q 'ended: done' run4/log.txt; do
    tries=$((tries + 1))
    [ $tries -lt 900 ] || { cat requeue.txt; squeue; fail "the run was not finished by requeueing"; }
    # Slurm holds a requeued job for two minutes
    scontrol update JobId="$job" StartTime=now 2> /dev/null
    sleep 1
done
[ "$(grep -c 'ended: ' run4/log.txt)" -ge 2 ] || fail "it was never requeued: $(cat run4/log.txt)"
ended "$job" 30
cmp whole2/draws.gess run4/draws.gess || fail "requeued: other draws"
echo "srun on two nodes, an array, scancel, a kill, $(grep -c 'ended: ' run4/log.txt) sessions of a requeued run: the same bytes"
