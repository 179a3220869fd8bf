# Shared by the tests of several ranks; sourced by a script with the arguments GESS and SOURCE_FOLDER.
# shellcheck shell=sh disable=SC2034
gess=$1
source=$(cd "$2" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
# more ranks than cores, as root where CI is
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_orte_base_help_aggregate=1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_plm_rsh_agent=false

fail()
{
    echo "FAILED: $*"
    for words in err.txt launcher.txt; do [ ! -f $words ] || cat $words; done
    exit 1
}

# Each rank writes its messages into err.txt itself: mpirun may drop the last words of a process that fails.
cat > spoken.sh <<'SH'
#!/bin/sh
words=$1
shift
exec "$@" 2>> "$words"
SH
chmod +x spoken.sh

# ranks N COMMAND...: runs the command on N ranks, with a time limit, so that a hang is a failure
ranks()
{
    size_of_world=$1
    shift
    : > err.txt
    timeout -k 5 "${limit:-120}" mpirun -n "$size_of_world" "$folder/spoken.sh" "$folder/err.txt" "$@" 2> launcher.txt
}

sleeping()
{
    cc -std=c17 -D_DEFAULT_SOURCE -O2 -shared -fPIC -I "$source/include" -o sleeping.so "$source/bench/mpi/sleeping.c" -lm ||
        fail "the sleeping model does not build"
}
