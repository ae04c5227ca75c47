# hone inspect render: text, ids and mask a row, refused rows, exit codes.
set -u
fail=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$TEST_DATA"/data/template/tokenizer/* "$work"
cp "$TEST_DATA"/data/template/brackets.jinja "$work/chat_template.jinja"

# run WANTED_EXIT ARGS...
run() {
    want=$1
    shift
    "$HONE" inspect render "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$want" ] || { echo "render $*: exit code $got, wanted $want"; cat "$work/err"; fail=1; }
}

# has FILE TEXT
has() { grep -qF -- "$2" "$work/$1" || { echo "no '$2' in $1:"; cat "$work/$1"; fail=1; }; }

printf '\357\273\277{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"id":1}\r\n\n' >"$work/good.jsonl"
printf '{"messages":[{"role":"user","content":"a\xe2\x80\xa8"}],"tools":null,"chat_template_kwargs":{"x":1}}' >>"$work/good.jsonl"
run 0 "$work" "$work/good.jsonl"
[ "$(wc -l <"$work/out")" -eq 2 ] || { echo "wanted two rows"; cat "$work/out"; fail=1; }
has out '{"text": "<s>[INST] a [/INST] b</s>", "ids": [420, '
has out ', 1, 1, 1]}'
run 0 "$work" "$work/good.jsonl" --generation-prompt

printf '{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}\n[]\n{"messages":[{"role":"user","content":"a"}]}\n' >"$work/bad.jsonl"
run 6 "$work" "$work/bad.jsonl"
[ "$(grep -c '^{"error": "' "$work/out")" -eq 2 ] || { echo "wanted two errors"; cat "$work/out"; fail=1; }
has out 'chat_template.jinja:7:13: user and assistant turns must alternate'
has out '{"text": "<s>[INST] a [/INST]"'
has err "2 of 3 rows cannot be rendered"

# standard input, lists of messages, the text with what is learned in marks, another template
printf '[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]\n' >"$work/list.jsonl"
"$HONE" inspect render "$work" --marked <"$work/list.jsonl" >"$work/out" 2>"$work/err" || { cat "$work/err"; fail=1; }
has out '<s>[INST] a [/INST]« b</s>»'
printf '\n{"messages":' | "$HONE" inspect render "$work" - 2>"$work/err" && fail=1
has err "standard input:2: broken JSON"
printf 'T{{ messages[0].content }}' >"$work/other.jinja"
run 0 "$work" "$work/list.jsonl" --template "$work/other.jinja"
has out '{"text": "Ta"'
run 6 "$work" "$work/list.jsonl" --template rag
has err 'no chat template named "rag"; it has: "default"'
printf '{"messages":null}\n7\n' >"$work/bad.jsonl"
run 6 "$work" "$work/bad.jsonl"
has out 'the row has no \"messages\", a list of'
has out 'the row is neither an object nor a list of messages but integer'

printf '{"messages":[]}\n{"messages":\n' >"$work/broken.jsonl"
run 3 "$work" "$work/broken.jsonl"
has err "broken.jsonl:2: broken JSON"
run 2
run 2 "$work" "$work/good.jsonl" --generation-promt
has err "did you mean '--generation-prompt'?"
exit $fail
