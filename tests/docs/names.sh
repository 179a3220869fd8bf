#!/bin/sh
# What tables of the sources have and pages must explain: every code of a finding in the guide and in the specification,
# every kernel and schedule in the choices and among the proofs.
#   names.sh SOURCE_FOLDER
set -u
cd "$1" || exit 1
failed=0
fail()
{
    echo "FAILED: $*"
    failed=1
}

# wanted NAME PAGE...: `NAME` stands in every page
wanted()
{
    name=$1
    shift
    for page; do grep -qF "\`$name\`" "$page" || fail "$page does not mention \`$name\`"; done
}

codes=$(cat src/report/rules_*.c | tr '\n' ' ' | sed 's/gess__add_finding/\n&/g' |
    sed -n 's/^gess__add_finding([^"]*\(GESS__[A-Z]*\), *"\([a-z-]*\)".*/\2/p' | sort -u)
[ "$(echo "$codes" | wc -l)" -ge 25 ] || fail "codes of findings: $codes"
for code in $codes; do wanted "$code" docs/results.md docs/specification.md; done

names=$(sed -n 's/^GESS_\(KERNEL\|SCHEDULE\)(\([a-z_]*\))$/\2/p' src/kernel/kernels.def src/schedule/schedules.def | tr _ -)
[ "$(echo "$names" | wc -l)" -ge 15 ] || fail "kernels and schedules: $names"
for name in $names; do
    wanted "$name" docs/choosing.md
    # what it does is proved exact, or said not to be; `independent` is a kernel by itself
    [ "$name" = independent ] || wanted "$name" docs/method.md
done
exit $failed
