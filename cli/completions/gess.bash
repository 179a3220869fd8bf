# Completion of gess in bash: eval "$(gess completion bash)", or a file for bash-completion.
_gess()
{
    local IFS=$'\n'
    COMPREPLY=($(gess completion --words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _gess gess
