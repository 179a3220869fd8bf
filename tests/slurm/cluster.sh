# A Slurm cluster on this host, for tests: munged, slurmctld and two slurmd, all with files of their own. To be sourced;
# as root. cluster_start FOLDER sets SLURM_CONF; cluster_stop ends what it started.
# shellcheck shell=sh

cluster_need()
{
    for program in munged mungekey slurmctld slurmd sbatch srun; do
        command -v $program > /dev/null || PATH=$PATH:/usr/sbin command -v $program > /dev/null || return 1
    done
}

cluster_start()
{
    cluster=$1
    PATH=$PATH:/usr/sbin
    mkdir -p "$cluster/state" "$cluster/n1/tmp" "$cluster/n2/tmp"
    chmod 711 "$cluster"
    dd if=/dev/urandom of="$cluster/munge.key" bs=1024 count=1 2> /dev/null
    chmod 400 "$cluster/munge.key"
    munged --foreground --force --key-file="$cluster/munge.key" --socket="$cluster/munge.socket" \
        --pid-file="$cluster/munge.pid" --log-file="$cluster/munge.log" --seed-file="$cluster/munge.seed" \
        > "$cluster/munged.out" 2>&1 &
    cluster_pids=$!
    # ports that are likely to be free, by the number of this process
    port=$((20000 + $$ % 20000))
    cpus=$(nproc)
    cat > "$cluster/slurm.conf" <<CONF
ClusterName=gess
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.socket
CredType=cred/munge
SlurmctldPort=$port
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdPidFile=$cluster/slurmd.%n.pid
SlurmdLogFile=$cluster/slurmd.%n.log
SlurmdSpoolDir=$cluster/%n
TmpFS=$cluster/%n/tmp
StateSaveLocation=$cluster/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
MpiDefault=pmix
ReturnToService=2
KillWait=15
SlurmctldTimeout=30
JobRequeue=1
RequeueExit=3
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=$cpus
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=$cpus
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=60 State=UP OverSubscribe=FORCE:4
CONF
    export SLURM_CONF="$cluster/slurm.conf"
    sleep 1
    slurmctld -D > "$cluster/slurmctld.out" 2>&1 &
    cluster_pids="$cluster_pids $!"
    for node in n1 n2; do
        slurmd -D -N $node > "$cluster/slurmd.$node.out" 2>&1 &
        cluster_pids="$cluster_pids $!"
    done
    tries=0
    until [ "$(sinfo -h -o '%T %D' 2> /dev/null)" = 'idle 2' ]; do
        tries=$((tries + 1))
        [ $tries -lt 60 ] || return 1
        sleep 0.5
    done
}

cluster_stop()
{
    scancel --state=RUNNING 2> /dev/null
    for pid in $cluster_pids; do kill "$pid" 2> /dev/null; done
    for pid in $cluster_pids; do wait "$pid" 2> /dev/null; done
}
