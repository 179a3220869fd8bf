# shellcheck shell=sh disable=SC2154
# The same run on the processor and on a GPU, for the scripts of this folder; to be sourced behind ../command.sh.
# device: what log.txt calls the GPU.

# both NAME MODEL OPTION...: the same run on both
both()
{
    name=$1
    shift
    "$gess" sample "$@" --device cpu --out "$name.cpu" --quiet >"$name.txt" 2>&1 || fail "$name on the processor: $(cat "$name.txt")"
    "$gess" sample "$@" --device cuda --out "$name.gpu" --quiet >"$name.txt" 2>&1 || fail "$name on the GPU: $(cat "$name.txt")"
    cmp "$name.cpu/draws.gess" "$name.gpu/draws.gess" || fail "$name: other draws on the GPU"
    grep -qF "device: $device" "$name.gpu/log.txt" || fail "$name did not run on the GPU"
}
