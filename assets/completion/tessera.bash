# Completes the commands of tessera. The program finds the candidates and quotes them.
_tessera() {
    local words=() last=-1 index word candidate rest="${COMP_LINE:0:COMP_POINT}"
    # Bash also divides the line at `=` and `:`, which are parts of words here. Only a blank begins a word.
    for ((index = 0; index <= COMP_CWORD; index++)); do
        if [[ $last -lt 0 || $rest == [[:blank:]]* ]]; then
            words[++last]=""
            rest="${rest#"${rest%%[![:blank:]]*}"}"
        fi
        word="${COMP_WORDS[index]}"
        if ((index == COMP_CWORD)); then
            word="$rest"
        fi
        words[last]+="$word"
        rest="${rest#"$word"}"
    done
    COMPREPLY=()
    # Only the shell knows the values of variables.
    if [[ ${words[last]} == *\$* ]]; then
        compopt -o default 2> /dev/null
        return
    fi
    while IFS= read -r -d $'\013' candidate; do
        COMPREPLY+=("$candidate")
    done < <(
        # Bash replaces only $2, so the prefix is what stays before it.
        _CLAP_COMPLETE_INDEX="$last" TESSERA_COMPLETE=bash \
            TESSERA_COMPLETE_QUOTE="${COMP_WORDS[COMP_CWORD]:0:1}" \
            TESSERA_COMPLETE_PREFIX="${words[last]%"$2"}" tessera -- "${words[@]}"
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
