#!/usr/bin/env bash
# A run that is stopped at steps 5, 9 and 14 ends as one that was not: packed rows, steps by tokens, dropout.
set -euo pipefail
model=$TEST_DATA/data/models/gpt2-base
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/log"; exit 1; }

awk 'BEGIN { for (i = 0; i < 90; i++) { printf "{\"input_ids\": [%d", i % 97; n = 2 + i * 7 % 9
             for (t = 1; t < n; t++) printf ", %d", (i * t * 3 + t) % 97; print "]}" } }' >"$tmp/a.jsonl"

# out, options
train() {
    local out=$1; shift
    "$HONE" train model_name_or_path="$model" finetuning_type=full dataset="$tmp/a.jsonl" max_steps=16 learning_rate=1e-3 \
        dropout=0.1 output_dir="$out" save_steps=1 logging_steps=100 "$@" >"$tmp/log" 2>&1
}
metrics() { sed -E 's/,"(seconds|tokens_per_second|memory|rss_anon)":[^,}]*//g' "$1/metrics.jsonl"; }

for kind in "packing=true cutoff_len=20 per_device_train_batch_size=2" "packing=true packing_strategy=greedy cutoff_len=20 per_device_train_batch_size=3" \
            "global_batch_tokens=60 per_device_train_batch_size=4"; do
    train "$tmp/whole" $kind || fail "$kind"
    cp -r "$tmp/whole" "$tmp/parts"
    for step in 5 9 14; do          # each from the checkpoint that the one before made
        find "$tmp/parts" -mindepth 1 -maxdepth 1 ! -name metrics.jsonl ! -name "checkpoint-$step" -exec rm -r {} +
        train "$tmp/parts" $kind
        grep -q "going on from .*checkpoint-$step" "$tmp/log" || fail "$kind: did not resume from $step"
    done
    cmp "$tmp/whole/model.safetensors" "$tmp/parts/model.safetensors" || fail "$kind: weights"
    diff <(metrics "$tmp/whole") <(metrics "$tmp/parts") || fail "$kind: metrics"
    rm -r "$tmp/whole" "$tmp/parts"
done
echo ok
