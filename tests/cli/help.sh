#!/bin/sh
# `gess help`, its examples, and completions: each example runs, each topic fits a terminal, a shell completes.
#   help.sh GESS
set -u
# shellcheck source=tests/command.sh
. "$(dirname "$0")/../command.sh"
PATH=$(dirname "$gess"):$PATH
NO_COLOR=1
export PATH NO_COLOR

# ---- topics and commands ----
expect 0 'gess sample' gess help
expect 0 'gess help modes' gess --help
topics=$(gess help | sed -n 's/^  gess help \([a-z]*\) .*/\1/p')
[ "$(echo "$topics" | wc -l)" -ge 7 ] || fail "topics: $topics"
for topic in $topics; do
    expect 0 '' gess help "$topic"
    gess help "$topic" | awk 'length($0) > 80 { print FILENAME ": " $0; bad = 1 } END { exit bad || NR < 5 }' ||
        fail "the topic $topic does not fit 80 columns"
done
for command in $(gess help | sed -n 's/^  gess \([a-z]*\) .*/\1/p' | grep -v '^help$'); do
    expect 0 'Usage: ' gess help "$command"
done
expect 0 'Examples:' gess help resume
expect 1 'did you mean `gess help modes`' gess help mode
expect 1 'lists commands and topics' gess help zzzzzzzz
expect 1 'one argument too many' gess help modes budget

# ---- every example, in order, in one folder ----
gess manual | sed -n '/^.SH EXAMPLES/,/^.SH ENV/p' | sed -n 's/^\\fB\(.*\)\\fR$/\1/p' | sed 's/\\-/-/g; s/\\e/\\/g' > examples
[ "$(wc -l < examples)" -ge 12 ] || fail "the manual page lacks examples: $(cat examples)"
mkdir work
while read -r line; do
    (cd work && sh -c "$line") > out.txt 2>&1 < /dev/null || fail "$line: $(tail -n 3 out.txt)"
done < examples

# ---- completions ----
words()
{
    gess completion --words "$@" 2>&1 | tr '\n' ' '
}
same()
{
    [ "$1" = "$2" ] || fail "completion: \"$1\" instead of \"$2\""
}
same "$(words samp)" 'sample '
same "$(words sample germ)" 'german-credit '
same "$(words sample funnel --max-t)" '--max-time '
same "$(words sample funnel --kernel nuts)" 'nuts nuts-dense '
same "$(words export gess-runs/x --to cs)" 'csv '
same "$(words help mode)" 'models modes model '
same "$(words fit --js)" '--json '
same "$(words sample x --data '')" ''
same "$(cd work && words summary gess-runs/)" 'gess-runs/german-credit-1 gess-runs/line-1 '
expect 1 'there are bash, zsh and fish' gess completion csh
expect 1 'which shell' gess completion
for shell in bash zsh fish; do expect 0 'completion --words' gess completion $shell; done
if command -v bash > /dev/null; then
    reply=$(bash -c 'eval "$(gess completion bash)"; COMP_WORDS=(gess sample germ); COMP_CWORD=2; _gess; echo "${COMPREPLY[@]}"')
    same "$reply" german-credit
fi
if command -v zsh > /dev/null; then zsh -n -c "$(gess completion zsh)" || fail 'the script for zsh'; fi
if command -v fish > /dev/null; then gess completion fish | fish -n || fail 'the script for fish'; fi
exit $failed
