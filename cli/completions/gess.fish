# Completion of gess in fish: gess completion fish > ~/.config/fish/completions/gess.fish
function __gess_words
    set -l words (commandline -opc) (commandline -ct)
    gess completion --words $words[2..-1] 2>/dev/null
end
complete -c gess -a '(__gess_words)'
