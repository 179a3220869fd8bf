#!/bin/bash
# The path of a new user on a bare system, with a stopwatch: clone to first report, to the first own model in C, to the first own
# model in Python, and to a figure. tests/fresh/prove runs it (case `first`); the table at the end is that of docs/first-run.md.
# In this shell, so that `cd`, `export` and `.` hold for the commands that follow. Beside the seconds stand those of the processors
# (user and system), which say more if the machine had other work.
set -u
table= total=0 commands=0 failed=0

# The processor seconds of this shell and of all that it waited for.
processor_seconds()
{
    awk -v ticks="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%.2f", ($12 + $13 + $14 + $15) / ticks }' /proc/$$/stat
}

# type_command STEP COMMAND
type_command()
{
    printf '\n$ %s\n' "$2"
    local began=$EPOCHREALTIME status=0 worked
    worked=$(processor_seconds)
    eval "$2" || status=$?
    local seconds
    seconds=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    total=$(awk -v a="$total" -v b="$seconds" 'BEGIN { printf "%.1f", a + b }')
    worked=$(awk -v a="$worked" -v b="$(processor_seconds)" 'BEGIN { printf "%.1f", b - a }')
    commands=$((commands + 1))
    table="$table| $1 | \`$2\` | $seconds | $total | $worked |
"
    [ $status -eq 0 ] || { failed=1; echo "first_run: status $status"; }
}

type_command 'clone' 'git -c advice.detachedHead=false clone --quiet /gess.bundle gess'
type_command '' 'cd gess'
type_command 'first report' './run'
type_command '' 'export PATH="$PWD/build:$PATH"'
type_command '' 'gess diagnose gess-runs/german-credit'
type_command 'own model in C' 'gess new line'
type_command '' 'make -C line'
type_command '' 'gess check ./line/line.so --data line/data.csv'
type_command '' 'gess sample ./line/line.so --data line/data.csv'
type_command '' 'gess report gess-runs/line-1'
type_command 'own model in Python' 'make python'
type_command '' '. build/env/bin/activate'
type_command '' 'gess new pyline --lang python'
type_command '' 'python3 pyline/pyline.py'
type_command 'a figure' 'gess plot gess-runs/line-1 corner -o corner.pdf'
printf '\n| step | command | seconds | seconds in all | of processors |\n|---|---|---|---|---|\n%s\n%d commands, %s s\n' "$table" $commands "$total"
exit $failed
