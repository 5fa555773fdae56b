# Completes the commands of tessera. The program finds the candidates and quotes them.
_tessera() {
    local words=("${COMP_WORDS[@]}") candidate
    words[COMP_CWORD]="$2"
    COMPREPLY=()
    while IFS= read -r -d $'\013' candidate; do
        COMPREPLY+=("$candidate")
    done < <(
        _CLAP_COMPLETE_INDEX="$COMP_CWORD" TESSERA_COMPLETE=bash \
            TESSERA_COMPLETE_QUOTE="${COMP_WORDS[COMP_CWORD]:0:1}" tessera -- "${words[@]}"
    )
    if [[ ${COMPREPLY-} =~ [=/:]$ ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
if [[ ${BASH_VERSINFO[0]} -eq 4 && ${BASH_VERSINFO[1]} -ge 4 || ${BASH_VERSINFO[0]} -gt 4 ]]; then
    complete -o bashdefault -o nosort -F _tessera tessera
else
    complete -o bashdefault -F _tessera tessera
fi
