#!/usr/bin/env bash
# test: long (a sanitizer keeps freed memory, so it cannot tell)
# Two thousand tiny steps with saves and evaluations leave memory flat.
set -euo pipefail
model=$TEST_DATA/data/models/qwen3-base
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
"$HONE" train model_name_or_path="$model" stage=sft finetuning_type=full dataset="$model/train.jsonl" \
    eval_dataset="$model/train.jsonl" eval_strategy=steps eval_steps=40 save_steps=40 save_total_limit=2 logging_steps=1000 \
    per_device_train_batch_size=2 max_steps=2000 output_dir="$tmp/out" threads=1 >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "training"; }
at() { sed -n "$1p" "$tmp/out/metrics.jsonl" | grep -o '"rss_anon":[0-9]*' | cut -d: -f2; }
early=$(at 400) late=$(at 2000)
[ "$early" -gt 0 ] || { echo "no RssAnon here: skipped"; exit 0; }
# a leak of half a kilobyte a step would show
[ $((late - early)) -lt 800000 ] || fail "resident memory grew from $early to $late bytes between steps 400 and 2000"
echo ok
