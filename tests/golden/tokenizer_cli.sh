# hone inspect tokens: lines, --whole, --json, --no-special, standard input, refusals with line and byte.
set -u
fail=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dir="$TEST_DATA/data/tokenizer/llama3"

same() {    # NAME WANTED GOT
    [ "$2" = "$3" ] || { echo "$1: wanted"; echo "$2"; echo "got"; echo "$3"; fail=1; }
}
run() { "$HONE" inspect tokens "$@" 2>"$work/err"; }

bos=$(printf '\n' | run "$dir")                                     # an empty line: only BOS
case $bos in '['[0-9]*']') ;; *) echo "an empty line gave $bos"; fail=1 ;; esac
same "no special" "[]" "$(printf '\n' | run "$dir" - --no-special)"
same "no input" "" "$(printf '' | run "$dir")"
same "whole empty input" "$bos" "$(printf '' | run "$dir" --whole)"
same "last line without LF" "$(printf 'ab\ncd\n' | run "$dir")" "$(printf 'ab\ncd' | run "$dir")"
same "CR is kept" "$(printf '"ab\\r"' | run "$dir" --json)" "$(printf 'ab\r\n' | run "$dir")"
same "whole" "$(printf '"ab\\ncd\\n"' | run "$dir" --json)" "$(printf 'ab\ncd\n' | run "$dir" --whole)"
printf 'one two\nthree' >"$work/file"
same "file" "$(run "$dir" <"$work/file")" "$(run "$dir" "$work/file")"
same "lines" 2 "$(run "$dir" "$work/file" | wc -l)"

# refused STATUS TEXT ARGS: exit code and message
refused() {
    want=$1 text=$2
    shift 2
    run "$@" >"$work/out"
    got=$?
    [ $got -eq "$want" ] || { echo "$*: exit code $got, wanted $want"; fail=1; }
    grep -qF -- "$text" "$work/err" || { echo "$*: no '$text' in:"; cat "$work/err"; fail=1; }
}
printf 'fine\nab\377c\n' >"$work/bad"
refused 6 "$work/bad: line 2, byte 3: 0xff" "$dir" "$work/bad"
refused 6 "line 2, byte 3" "$dir" "$work/bad" --whole
printf '"a"\n3\n' >"$work/json"
refused 6 "$work/json:2" "$dir" "$work/json" --json
printf '"a"\n"b\n' >"$work/json"
refused 3 "$work/json:2" "$dir" "$work/json" --json
refused 2 "did you mean '--json'" "$dir" --jsn
refused 2 "usage" --json
refused 5 "no folder" "$work/nothing"
refused 5 "tokenizer.json" "$work"
refused 5 "$work/none" "$dir" "$work/none"
exit $fail
