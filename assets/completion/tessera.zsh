#compdef tessera
# Completes the commands of tessera. The program finds the candidates, and the shell quotes them.
_tessera() {
    # Only the shell knows the values of variables.
    [[ $PREFIX == *\$* ]] && { _files; return }
    # Names of files may contain line breaks, so another character is between the candidates.
    local -a found=("${(@ps:\v:)$(
        _CLAP_IFS=$'\v' _CLAP_COMPLETE_INDEX=$((CURRENT - 1)) TESSERA_COMPLETE=zsh \
            tessera -- "${words[@]}" 2> /dev/null
    )}")
    [[ -n $found ]] || return 1
    # The shell would quote the tilde of the home folder, which is then no longer the home folder.
    if [[ $PREFIX == (|--*=)\~/* ]]; then
        compset -P '(|--*=)\~/'
        found=("${(@)found#(|--*=)\~/}")
    fi
    local -a dirs=("${(@)${(@M)found:#*/}%/}") other=("${(@)found:#*/}")
    (( $#dirs )) && _describe -V 'values' dirs -S / -r /
    (( $#other )) && _describe -V 'values' other
}
if [[ $funcstack[1] == _tessera ]]; then
    _tessera "$@"
else
    compdef _tessera tessera
fi
