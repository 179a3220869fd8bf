# What the tests of the command share; to be sourced by a script that got the command as its first argument. It
# works in a folder of its own, which goes away with it.
# shellcheck shell=sh
gess=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

fail()
{
    echo "FAILED: $*"
    failed=1
}

# expect STATUS TEXT COMMAND...: the command ends with STATUS and says TEXT on stdout or stderr.
expect()
{
    want=$1
    text=$2
    shift 2
    output=$("$@" 2>&1)
    status=$?
    [ $status -eq "$want" ] || fail "status $status instead of $want: $*: $output"
    case $output in
    *"$text"*) ;;
    *) fail "no \"$text\" from: $*: $output" ;;
    esac
}
