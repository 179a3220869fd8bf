#!/bin/sh
# Densities that a program computes (exec:): the examples in every language that is here, names and bounds, both
# protocols, stops and kills, resume, check, trust, hashes. tests/exec/faults.py injects faults.
#   exec.sh GESS SOURCE_FOLDER
source=$2
# shellcheck source=tests/command.sh
. "$source/tests/command.sh"
cc -O2 -o peer "$source/tests/exec/peer.c" || exit 1
cp "$source"/examples/exec/* .

# the same density in every language; its names and bounds
printf 'mu,sigma\n1,2\n-3,4.5\n6.25,0.125\n' > points.csv
for command in 'python3 model.py' 'python3 binary.py' 'Rscript model.R' 'julia model.jl' 'perl model.pl' 'sh model.sh'; do
    command -v "${command%% *}" > /dev/null || continue
    "$gess" eval "exec:$command" --points points.csv > values 2> messages || fail "$command: $(cat messages)"
    echo 1,0 | "$gess" eval "exec:$command" | grep -q '^-inf$' || fail "$command: not -inf at sigma = 0"
    awk 'BEGIN { v[2] = -163.69642744447953; v[3] = -59.189038927296608; v[4] = -20544.95696737724 }
        NR > 1 { d = ($1 - v[NR]) / v[NR]; if (d > 1e-13 || d < -1e-13) exit 1 } END { exit NR != 4 }' values ||
        fail "$command: other values: $(cat values)"
done
run='--seed 5 --chains 16 --warmup 60 --draws 60'
expect 0 'sigma' "$gess" sample 'exec:python3 model.py' $run -o python
expect 0 '' "$gess" sample 'exec:perl model.pl' $run -q --threads 3
"$gess" summary python --json | python3 -c '
import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)["parameters"]}
assert list(rows) == ["mu", "sigma", "lp__"], rows
assert abs(rows["mu"]["mean"] - 8.8) < 2 and rows["sigma"]["q5"] > 4, rows' || fail "other figures"
[ -e gess-runs/model-5/draws.gess ] || fail "the default directory is not that of the program's name: $(ls gess-runs)"

# text and binary, any threads, --isolate, stopped and resumed, another locale: the same draws
expect 0 '' "$gess" sample 'exec:./peer 4' $run --threads 1 -q -o text
expect 0 '' "$gess" sample 'exec:./peer 4 binary' $run --threads 3 -q -o binary
expect 0 '' "$gess" sample 'exec:./peer 4' $run --isolate -q -o isolated
expect 0 '' "$gess" sample 'exec:./peer 4' $run --draws 20 -q -o resumed
expect 0 '' "$gess" resume resumed --draws 60 -q
expect 3 'gess resume slow' "$gess" sample 'exec:./peer 4 sleep 2000' $run --max-time 1 -o slow
expect 0 '' "$gess" resume slow -q
for other in binary isolated resumed slow; do
    cmp text/draws.gess $other/draws.gess || fail "$other: other draws"
done

# a density that has changed
cat > changing.py <<'END'
import sys
shift = float(open("value").read())
sys.stdin.readline()
print("ok 1", flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        print(shift - float(sys.stdin.readline()) ** 2 / 2)
    sys.stdout.flush()
END
echo 1 > value
expect 0 '' "$gess" sample 'exec:python3 changing.py' --chains 4 --warmup 5 --draws 2 -q -o changed
echo 2 > value
expect 2 'the density has changed since this run was stopped' "$gess" resume changed --draws 4 -q

# a program that fails, or is silent, when the evidence asks it: that is said, not that the density has changed
cat > later.py <<'END'
import os, sys, time
sys.stdin.readline()
print("ok 1", flush=True)
for line in sys.stdin:
    points = [float(sys.stdin.readline()) for _ in range(int(line))]
    if os.path.exists("silent"):
        time.sleep(1000)
    if os.path.exists("dead"):
        sys.exit("no such telescope")
    print("\n".join(str(-x * x / 2) for x in points), flush=True)
END
expect 0 '' "$gess" sample 'exec:python3 later.py' --seed 2 --eval-timeout 2s -q -o later
touch dead
expect 2 'the program ended with exit status 1 (the last it said: no such telescope)' "$gess" evidence later
mv dead silent
expect 2 'the program did not answer within 2 s' "$gess" evidence later
rm silent
expect 0 'they agree' "$gess" evidence later

# what the program says: in log.txt, and last words in the message
cat > talking.py <<'END'
import os, sys
print("reading", os.environ.get("GESS_MODEL_DATA"), "as worker", os.environ["GESS_WORKER"], os.environ["OMP_NUM_THREADS"],
      file=sys.stderr)
exec(open("model.py").read())
END
echo 1 > some.csv
expect 0 '' "$gess" sample 'exec:python3 talking.py' --data some.csv $run --threads 1 -q -o talking
grep -q 'program of worker 0: reading some.csv as worker 0 1$' talking/log.txt || fail "log.txt: $(cat talking/log.txt)"
expect 2 'cannot read --data none.csv' "$gess" sample 'exec:python3 talking.py' --data none.csv -q -o none
sed 's/if sigma <= 0:/if False:/' model.py > failing.py
echo 1,-2 | "$gess" eval 'exec:python3 failing.py' > /dev/null 2> said && fail "the log of a negative number has a value"
grep -q 'ended with exit status 1 (the last it said: ValueError' said || fail "no last words: $(cat said)"
grep -q 'at the point (1,-2)' said || fail "no point: $(cat said)"
grep -q 'model: program of worker 0: Traceback' said || fail "what the program says is not shown: $(cat said)"

# greetings that are wrong
greets() # greets ANSWER MESSAGE
{
    printf 'read -r greeting\necho "%s"\ncat > /dev/null\n' "$1" > greeting.sh
    expect 2 "$2" "$gess" sample 'exec:sh greeting.sh' -q -o greeting
}
greets 'ok' 'greets with `ok` instead of `ok DIM`'
greets 'ok 0' 'the model has no parameters'
greets 'ok 2 mu' 'gives 1 name for 2 parameters'
greets 'ok 2 mu mu' "two quantities with the name 'mu'"
greets 'ok 1 mu(2,1)' 'its lower bound 2 is above its upper bound 1'
greets 'ok 1 a.b' 'may not have a dot'
greets 'error no such telescope' 'says: no such telescope'
greets 'ok 1
hello' 'wrote more than the line `ok 1`'
expect 1 'exec: needs a command' "$gess" sample exec: -q -o greeting
[ ! -e greeting ] || fail "a program that did not open left a folder"

# names with brackets are no bounds; periodic parameters
printf 'import sys\nsys.stdin.readline()\nprint("ok 3 theta[1,2] f(x) phi(-3.2,3.2,periodic)", flush=True)\n' > names.py
tail -n 5 changing.py | sed 's/shift.*/-sum(float(x) ** 2 for x in sys.stdin.readline().split()))/; s/^print.*//' >> names.py
expect 0 'f(x)' "$gess" sample 'exec:python3 names.py' $run -o names
expect 0 'phi: periodic' "$gess" summary names

# check, and the options that go with programs
expect 0 '' "$gess" check 'exec:./peer 3'
expect 1 'it must be stop, outside, retry or auto' "$gess" sample 'exec:./peer 2' --on-crash perhaps -q -o greeting
expect 1 'worker-memory is for processes of gess' "$gess" sample 'exec:./peer 2' --worker-memory 10 -q -o greeting

# the hash of the program's file; a command of a configuration from elsewhere
python3 - <<'END' || fail "no hash of the program in config.json"
import hashlib, json
stored = json.load(open("python/config.json"))["sha256"]
assert stored["program"] == {"model.py": hashlib.sha256(open("model.py", "rb").read()).hexdigest()}, stored
END
expect 1 'names a command as its model, exec:python3 model.py' "$gess" sample --config python/config.json -q -o trusted
expect 0 'the model is the command exec:python3 model.py' "$gess" sample --config python/config.json --trust-model -o trusted
expect 0 '' "$gess" sample 'exec:python3 model.py' --config python/config.json -q -o again
for other in trusted again; do
    cmp python/draws.gess $other/draws.gess || fail "$other: other draws"
done
exit $failed
