#!/usr/bin/env bash
# hone prepare, and runs that start from what it made: the same result, nothing stale is used, a folder is whole or not there.
set -euo pipefail
models=$TEST_DATA/data/models
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/log"; exit 1; }
cp -r "$models/llama-base" "$tmp/model"
cd "$tmp"
for i in 1 2 3 4 5 6; do cat model/train.jsonl; done >data.jsonl
cp data.jsonl held.jsonl
cat >c.yaml <<'YAML'
model_name_or_path: model
stage: sft
finetuning_type: full
dataset: data.jsonl
tokenized_path: ready
max_steps: 4
save_steps: 2
learning_rate: 1e-3
per_device_train_batch_size: 2
threads: 1
YAML
prepare() { timeout 60 "$HONE" prepare c.yaml "$@" >log 2>&1 </dev/null; }
train() { timeout 60 "$HONE" train c.yaml "$@" >log 2>&1 </dev/null; }
expect() {      # exit code, text, command...
    local want=$1 text=$2 code=0; shift 2
    "$@" || code=$?
    [ $code = "$want" ] || fail "$*: exit code $code, not $want"
    grep -qF -- "$text" log || fail "$*: no \"$text\""
}
clean() { [ ! -e "${1:-ready}.preparing" ] || fail "left behind: $(ls)"; }
same_model() { cmp "$1/model.safetensors" "$2/model.safetensors" || fail "$1 and $2 differ"; }

# the same run, prepared or not, with the folder made beforehand or by the run itself
train output_dir=plain tokenized_path=null || fail "plain run"
expect 0 "prepared ready in" prepare
for f in manifest.json train.ids train.labels train.samples train.notes train.reasons; do [ -f ready/$f ] || fail "no $f"; done
clean
expect 0 "using the prepared data of ready" train output_dir=a
same_model plain a
expect 0 "nothing to do" prepare
expect 0 "prepared other in" train output_dir=b tokenized_path=other/
clean other
same_model plain b
cmp ready/train.ids other/train.ids
expect 0 "prepared out in" prepare --out out
expect 0 "nothing to do" prepare --out=out/

# a checkpoint goes on over prepared data: it is the same data
mkdir resumed; cp -r plain/checkpoint-2 plain/metrics.jsonl resumed/
expect 0 "going on from resumed/checkpoint-2" train output_dir=resumed
same_model plain resumed

# whatever the samples depend on, and nothing else
expect 9 'there "cutoff_len: 2048", here "cutoff_len: 9"' train output_dir=x cutoff_len=9
expect 9 'mask_history' train output_dir=x mask_history=true
expect 0 "using the prepared data" train output_dir=y learning_rate=1e-4 threads=2 packing=false seed=7 max_steps=1
touch -d '2001-01-01' data.jsonl
expect 0 "nothing to do" prepare                            # another time, the same content
sed -i '1s/[aeiou]/x/' data.jsonl
expect 9 "made from data.jsonl, whose content was another then" prepare
[ ! -e x ] || fail "a refused run wrote something"
cp held.jsonl data.jsonl; head -1 held.jsonl >>data.jsonl
expect 9 "bytes then and has" prepare
expect 0 "preparing anew" prepare overwrite_cache=true
! grep -q "set overwrite_cache" log || fail "a way out that is taken already"
clean
expect 0 "nothing to do" prepare overwrite_cache=true
echo '{{ messages[0].content }}' >model/chat_template.jinja
expect 9 "chat_template.jinja" prepare
rm model/chat_template.jinja
mv data.jsonl away.jsonl
expect 0 "the files that it was made from are not here" train output_dir=z max_steps=1
mv away.jsonl data.jsonl
expect 0 "held out: " prepare --out split val_size=3
[ -f split/eval.ids ] || fail "no held-out part"
expect 0 "eval loss" train output_dir=w tokenized_path=split val_size=3 eval_strategy=epoch max_steps=1
expect 9 'seed' train output_dir=x tokenized_path=split val_size=3 seed=7
expect 0 "rows" prepare --out pt stage=pt dataset=held.jsonl data_format=ids

# folders that are none of these
mkdir arrow; touch arrow/dataset_dict.json
expect 4 "Arrow" prepare --out arrow
mkdir mine; echo mine >mine/x
expect 9 "is there, and is no folder of data that hone prepared" prepare --out mine overwrite_cache=true
expect 9 "is there" prepare --out mine/x
[ "$(cat mine/x)" = mine ] || fail "mine/x was touched"
mkdir empty
expect 0 "prepared empty in" prepare --out empty
expect 2 "tokenized_path is missing" prepare tokenized_path=null
expect 2 "--out takes" prepare --out

# damage
rm -rf ready; prepare || fail "prepare"
damage() {      # text of the error, file, how (a command that gets the file's name)
    rm -rf hurt; cp -r ready hurt
    "${@:3}" "hurt/$2"
    expect 3 "$1" train output_dir=x tokenized_path=hurt
}
flip() { printf '\x7f' | dd of="$1" bs=1 seek=3 conv=notrunc status=none; }
for f in ids labels samples; do
    damage "train.$f" train.$f truncate -s -4
    damage "train.$f" train.$f truncate -s +56
done
damage "train.samples" train.samples flip
damage "manifest.json" manifest.json truncate -s -9
damage "checksum" manifest.json sed -i 's/"rows": [0-9]*/"rows": 1/'
damage "no manifest of data" manifest.json cp model/config.json
rm hurt/manifest.json; expect 9 "is no folder of data" train output_dir=x tokenized_path=hurt
rm -rf hurt; cp -r ready hurt; rm hurt/train.ids
expect 5 "train.ids" train output_dir=x tokenized_path=hurt
rm -rf hurt

# what went wrong leaves nothing
{ head -3 held.jsonl; echo '{"x": 1}'; } >bad.jsonl
expect 6 "bad.jsonl, line 4" prepare --out fresh dataset=bad.jsonl
echo '{"input_ids": "x"}' >>bad.jsonl
expect 3 "bad.jsonl: line 5" prepare --out fresh dataset=bad.jsonl
[ ! -e fresh ] || fail "a folder of bad rows"; clean fresh
mkdir fresh.preparing; echo junk >fresh.preparing/train.ids     # as a killed process leaves it
expect 0 "prepared fresh in" prepare --out fresh
cmp fresh/train.ids ready/train.ids; clean fresh
mkdir -p mixed.preparing; echo mine >mixed.preparing/notes
expect 9 "mixed.preparing is to be replaced, and holds notes" prepare --out mixed
echo mine >fresh/train.jsonl
expect 9 "fresh is to be replaced, and holds train.jsonl" prepare --out fresh cutoff_len=9 overwrite_cache=true
[ "$(cat mixed.preparing/notes fresh/train.jsonl)" = $'mine\nmine' ] || fail "notes were touched"
expect 0 "nothing to do" prepare --out fresh
mkdir -p busy.preparing
exec 7<busy.preparing; flock -n 7
expect 9 "another process" prepare --out busy
[ -d busy.preparing ] || fail "another process's folder was removed"
exec 7<&-
for i in $(seq 80); do cat held.jsonl; done >large.jsonl
code=0
(trap '' XFSZ; ulimit -f 8; exec "$HONE" prepare c.yaml --out full dataset=large.jsonl >log 2>&1 </dev/null) || code=$?
[ $code = 5 ] || fail "full disk: exit code $code"
[ ! -e full ] || fail "a folder on a full disk"; clean full
echo ok
