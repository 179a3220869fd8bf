#compdef gess
# Completion of gess in zsh: a file _gess in a folder of $fpath.
_gess()
{
    local -a found
    found=(${(f)"$(gess completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    if (( ${#found} )); then compadd -a found; else _files; fi
}
if [ "$funcstack[1]" = _gess ]; then _gess "$@"; else compdef _gess gess; fi
