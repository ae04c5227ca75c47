#!/usr/bin/env bash
# Streaming: a run that is stopped and goes on ends as one that was not, on any number of threads; faults say where they are.
set -euo pipefail
model=$TEST_DATA/data/models/gpt2-base
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/log"; exit 1; }

# More rows than a window has, so that 16 steps see two windows and two epochs.
awk 'BEGIN { for (i = 0; i < 2500; i++) { printf "{\"input_ids\": [%d", i % 97; n = 2 + i * 7 % 9
             for (t = 1; t < n; t++) printf ", %d", (i * t * 3 + t) % 97; print "]}" } }' >"$tmp/a.jsonl"

# out, options
train() {
    local out=$1; shift
    "$HONE" train model_name_or_path="$model" finetuning_type=full dataset="$tmp/a.jsonl" streaming=true buffer_size=500 \
        max_steps=16 learning_rate=1e-3 dropout=0.1 output_dir="$out" save_steps=100 logging_steps=100 "$@" >"$tmp/log" 2>&1
}
metrics() { sed -E 's/,"(seconds|tokens_per_second|memory|rss_anon)":[^,}]*//g' "$1/metrics.jsonl"; }
same() {
    cmp "$1/model.safetensors" "$2/model.safetensors" || fail "weights of $2 ($3)"
    diff <(metrics "$1") <(metrics "$2") || fail "metrics of $2 ($3)"
}

for kind in "stage=sft per_device_train_batch_size=200" "stage=sft packing=true cutoff_len=40 per_device_train_batch_size=30" \
            "stage=pt cutoff_len=50 per_device_train_batch_size=24" "stage=sft global_batch_tokens=1200 val_size=20 eval_strategy=epoch"; do
    base=$tmp/base
    train "$base" $kind threads=1 save_steps=1 || fail "$kind"
    grep -q "streaming 1 file" "$tmp/log" && grep -q "streamed: .* rows: .* kept" "$tmp/log" || fail "$kind: the log"
    grep -q '"epoch":[1-9]' "$base/metrics.jsonl" || fail "$kind: no second epoch"
    train "$tmp/threads" $kind threads=4
    same "$base" "$tmp/threads" "$kind: threads"
    for step in 5 9 14; do
        mkdir "$tmp/resume"
        cp -r "$base/checkpoint-$step" "$base/metrics.jsonl" "$tmp/resume/"
        train "$tmp/resume" $kind threads=2
        grep -q "going on from .*checkpoint-$step" "$tmp/log" || fail "$kind: did not resume from $step"
        same "$base" "$tmp/resume" "$kind: resume at $step"
        rm -r "$tmp/resume"
    done
    rm -r "$base" "$tmp/threads"
done

# Other rows of the same size: what was read so far is not what the checkpoint was trained on.
train "$tmp/other" per_device_train_batch_size=200 save_steps=9
sed -i '1s/\[0/[1/' "$tmp/a.jsonl"
rm -r "$tmp/other/model.safetensors" "$tmp/other/checkpoint-16"
code=0; train "$tmp/other" per_device_train_batch_size=200 || code=$?
[ $code = 9 ] && grep -q "rows of the data set are not those" "$tmp/log" || fail "other rows: $code"

# A bad row ends the run when its window comes; the checkpoints before it stay.
echo '{"text": 1}' >>"$tmp/a.jsonl"
code=0; train "$tmp/bad" per_device_train_batch_size=200 disable_shuffling=true save_steps=3 || code=$?
[ $code = 6 ] && grep -q "a.jsonl, line 2501" "$tmp/log" || fail "a bad row: $code"
[ -f "$tmp/bad/checkpoint-9/state/run.json" ] && [ ! -e "$tmp/bad/model.safetensors" ] || fail "checkpoints before a bad row"
train "$tmp/bad" per_device_train_batch_size=200 disable_shuffling=true bad_rows=drop overwrite_output_dir=true || fail "bad_rows: drop"
grep -q "left out: .*a.jsonl, line 2501" "$tmp/log" && grep -q "rows_left_out\":1" "$tmp/bad/metrics.jsonl" || fail "the row left out"

for refused in "max_steps=-1" "max_samples=5" "val_size=0.1" "tokenized_path=$tmp/x"; do
    code=0; train "$tmp/refused" $refused || code=$?
    [ $code = 2 ] && grep -q "stream" "$tmp/log" && [ ! -e "$tmp/refused" ] || fail "$refused: $code"
done
echo ok
