# hone inspect data: what is shown, what is refused, and that no weights are needed.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0
cd "$work" || exit 1
mkdir model
cp "$TEST_DATA"/data/template/tokenizer/* model
cp "$TEST_DATA/data/template/chatml.jinja" model/chat_template.jinja
echo '{"vocab_size": 433}' >model/config.json
cat >c.yaml <<'YAML'
model_name_or_path: model
finetuning_type: full
dataset: a.jsonl
per_device_train_batch_size: 1
num_train_epochs: 2
YAML
chat() { printf '{"messages": [{"role": "user", "content": "%s"}, {"role": "assistant", "content": "%s"}]}\n' "$1" "$2"; }

run() {     # name, exit code, arguments...
    name=$1 want=$2
    shift 2
    out=$("$HONE" inspect data c.yaml "$@" 2>&1)
    got=$?
    [ $got -eq "$want" ] || { echo "$name: exit code $got, wanted $want: $out"; fail=1; }
}
has() { printf '%s' "$out" | grep -qF -- "$1" || { echo "$name: no '$1' in: $out"; fail=1; }; }
hasnt() { ! printf '%s' "$out" | grep -qF -- "$1" || { echo "$name: '$1' in: $out"; fail=1; }; }

{ chat 'Hi\u0007' yes; chat two no; chat three ok; } >a.jsonl
run "good rows" 0
has "dataset: 3 rows, 3 samples"
has "3 kept"
has "steps: 3 in the first epoch, 6 in all"
has "sample 0 (a.jsonl, line 1):"
has "sample 2 (a.jsonl, line 3):"
has 'Hi\x07<|im_end|>'
has '[[yes<|im_end|>]]'
has 'labels: -100 -100'
hasnt "$(printf '\033')"
{ chat two no; printf '{"x\\u001b[2J": 1}\n'; } >"b$(printf '\033')[31m.jsonl"
run "controls in names" 0 --dataset "b$(printf '\033')[31m.jsonl" --bad_rows drop
has 'bad: b\x1b[31m.jsonl, line 2: the row has no "messages" (it has: x\x1b[2J)'
has 'sample 0 (b\x1b[31m.jsonl, line 1):'
hasnt "$(printf '\033')"
run "colour" 0 --color --samples 1
has "$(printf '\033[0;32myes<|im_end|>\033[0;2m')"
hasnt "sample 1"
run "packed" 0 --packing --cutoff_len 64 --samples=0
has "rows of 64 tokens"
hasnt "sample 0"
run "an evaluation that has no rows yet" 0 --eval_strategy steps
run "held out" 0 --val_size 1
has "held out (val_size): 1 rows"
run "cut" 0 --cutoff_len 12 --truncation cut-left
has "cut: a.jsonl, line 1:"
has "cutoff_len is 12"
run "too long" 6 --cutoff_len 15 --truncation error
has "too long: a.jsonl, line 3: 16 tokens, cutoff_len is 15"
has "rows longer than cutoff_len"
run "one object per row" 0 --json --cutoff_len 15 --truncation drop
[ "$(printf '%s\n' "$out" | sed 's/\[[^]]*\]/[]/g')" = '{"source": "a.jsonl", "row": 0, "ids": [], "labels": []}
{"source": "a.jsonl", "row": 1, "ids": [], "labels": []}
{"source": "a.jsonl", "row": 2, "dropped": "16 tokens, cutoff_len is 15"}' ] || { echo "$name: $out"; fail=1; }
touch empty.jsonl
run "nothing, as JSON" 0 --json --dataset empty.jsonl
[ "$out" = "warning: dataset has no rows: nothing is in empty.jsonl" ] || { echo "$name: $out"; fail=1; }
run "a page" 0 --html page.html
[ "$out" = "wrote page.html" ] && grep -qF '<span class=l title="' page.html || { echo "$name: $out"; fail=1; }
run "two forms" 2 --html page.html --json
has "ask for one"
run "no samples flag" 2 --samples many
has "--samples takes a number"
run "unknown flag" 2 --sample 3
has "sample"

{ chat a b; for i in $(seq 2 31); do echo '{"messages": []}'; done; echo '{"messages": [{"role": "user", "content": "x"}]}'; } >a.jsonl
run "bad rows are all listed" 6
has "bad: a.jsonl, line 2: the conversation has no message"
has "bad: a.jsonl, line 31: the conversation has no message"
has "without a token to learn: a.jsonl, line 32:"
has "rows that cannot be used (30, listed above)"
run "bad rows are dropped" 0 --bad_rows drop
has "30 bad"

printf '{"input_ids": [1, 2]}\n{"input_ids": [1, 433]}\n' >a.jsonl
run "an id beyond the vocabulary" 6
has "a.jsonl, line 2: id 433 of token 1 is beyond the model's vocabulary of 433"
printf '{"messages": [}\n' >a.jsonl
run "broken JSON" 3
has "a.jsonl: line 1: broken JSON at column"
: >a.jsonl
run "an empty data set" 6
has "dataset has no rows"
chat a b >a.jsonl
rm model/chat_template.jinja
run "no template" 6
has "chat_template.jinja"
rm model/tokenizer.json
run "no tokenizer" 6
has "no tokenizer"
printf '{"input_ids": [1, 2]}\n' >a.jsonl
run "ids need none" 0
has "ids:    1 2"
exit $fail
