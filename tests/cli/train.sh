#!/usr/bin/env bash
# What a run promises to the bit: any number of threads, recompute on and off, a run today and again, resume at any step.
set -euo pipefail
models=$TEST_DATA/data/models
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

# model, extra options
train() {
    local model=$1 out=$2; shift 2
    "$HONE" train model_name_or_path="$models/$model" stage=sft finetuning_type=full dataset="$models/$model/train.jsonl" \
        per_device_train_batch_size=1 gradient_accumulation_steps=3 max_steps=12 learning_rate=1e-3 lr_scheduler_type=cosine \
        warmup_ratio=0.2 weight_decay=0.1 dropout=0.1 output_dir="$out" save_steps=4 logging_steps=100 "$@" >"$tmp/log" 2>&1
}
# metrics without what time and place decide
metrics() { sed -E 's/,"(seconds|tokens_per_second|memory|rss_anon)":[^,}]*//g' "$1/metrics.jsonl"; }
same() {
    cmp "$1/model.safetensors" "$2/model.safetensors" || fail "weights of $2 ($3)"
    diff <(metrics "$1") <(metrics "$2") || fail "metrics of $2 ($3)"
}

for model in gpt2-base qwen3-base; do
    for dtype in false true; do
        base=$tmp/$model-$dtype
        train $model "$base" bf16=$dtype threads=1 || { cat "$tmp/log"; fail "training"; }
        [ "$(wc -l <"$base/metrics.jsonl")" = 12 ] || fail "one line a step"
        for step in 4 8 12; do
            [ -f "$base/checkpoint-$step/state/run.json" ] && [ -f "$base/checkpoint-$step/config.json" ] || fail "checkpoint-$step"
        done
        train $model "$tmp/again" bf16=$dtype threads=1;      same "$base" "$tmp/again" "again"
        train $model "$tmp/threads" bf16=$dtype threads=3;    same "$base" "$tmp/threads" "threads"
        train $model "$tmp/keep" bf16=$dtype threads=2 disable_gradient_checkpointing=true
        same "$base" "$tmp/keep" "recompute"
        for step in 4 8; do
            mkdir "$tmp/resume"
            cp -r "$base/checkpoint-$step" "$base/metrics.jsonl" "$tmp/resume/"
            train $model "$tmp/resume" bf16=$dtype threads=2
            grep -q "going on from .*checkpoint-$step" "$tmp/log" || fail "did not resume from $step"
            same "$base" "$tmp/resume" "resume at $step"
            rm -r "$tmp/resume"
        done
        rm -r "$tmp/again" "$tmp/threads" "$tmp/keep"
    done
done

# A signal saves and ends with the documented code; the same command goes on, and the result is that of the unbroken run.
out=$tmp/stopped
long() { exec "$HONE" train model_name_or_path="$models/llama-base" stage=sft finetuning_type=full dataset="$models/llama-base/train.jsonl" \
    per_device_train_batch_size=4 max_steps=400 learning_rate=1e-3 output_dir="$1" save_steps=1000 logging_steps=1 threads=1; }
long "$out" >"$tmp/log" 2>&1 &
pid=$!
for _ in $(seq 200); do grep -q "^step" "$tmp/log" 2>/dev/null && break; sleep 0.05; done
kill -TERM $pid
code=0; wait $pid || code=$?
[ $code = 10 ] || [ $code = 0 ] || { cat "$tmp/log"; fail "exit code $code after SIGTERM"; }
if [ $code = 10 ]; then
    ls -d "$out"/checkpoint-* >/dev/null || fail "no checkpoint after SIGTERM"
    (long "$out") >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "going on after SIGTERM"; }
fi
(long "$tmp/unbroken") >"$tmp/log" 2>&1
same "$tmp/unbroken" "$out" "after SIGTERM"

# With overwrite_output_dir the same command would delete what was saved: the message says how to go on instead.
(exec "$HONE" train model_name_or_path="$models/llama-base" stage=sft finetuning_type=full dataset="$models/llama-base/train.jsonl" \
    max_steps=100000 output_dir="$tmp/anew" logging_steps=1 overwrite_output_dir=true) >"$tmp/log" 2>&1 &
pid=$!
for _ in $(seq 200); do grep -q "^step" "$tmp/log" 2>/dev/null && break; sleep 0.05; done
kill -TERM $pid
code=0; wait $pid || code=$?
[ $code = 10 ] && grep -q "saving after this step" "$tmp/log" && grep -q "overwrite_output_dir false: .* start anew" "$tmp/log" \
    || { tail -3 "$tmp/log"; fail "stopped with overwrite_output_dir: $code"; }

# The newest K checkpoints stay.
train gpt2-base "$tmp/few" save_steps=2 save_total_limit=2
[ "$(ls -d "$tmp"/few/checkpoint-* | wc -l)" = 2 ] || fail "save_total_limit"

# output_dir: another run's is refused, and so is something else; overwrite_output_dir starts anew.
code=0; train gpt2-base "$tmp/few" learning_rate=2e-3 save_total_limit=2 save_steps=2 || code=$?
[ $code = 9 ] && grep -q learning_rate "$tmp/log" || { cat "$tmp/log"; fail "another run's output_dir: $code"; }
touch "$tmp/few/model-00001-of-00002.safetensors" "$tmp/few/model.safetensors.index.json" "$tmp/few/mine.txt"
train gpt2-base "$tmp/few" learning_rate=2e-3 overwrite_output_dir=true || { cat "$tmp/log"; fail "overwrite_output_dir"; }
[ ! -e "$tmp/few/model.safetensors.index.json" ] && [ ! -e "$tmp/few/model-00001-of-00002.safetensors" ] \
    && [ -e "$tmp/few/mine.txt" ] || fail "an earlier run's weights stay, or a user's file went"
mkdir "$tmp/other"; echo x >"$tmp/other/notes.txt"
code=0; train gpt2-base "$tmp/other" || code=$?
[ $code = 9 ] && grep -q notes.txt "$tmp/log" || { cat "$tmp/log"; fail "a folder with something else: $code"; }

# A changed checkpoint is refused by name.
mkdir "$tmp/bad"; cp -r "$tmp/few/checkpoint-12" "$tmp/bad/"
printf '\x55' | dd of="$tmp/bad/checkpoint-12/state/optimizer.safetensors" bs=1 seek=20000 conv=notrunc status=none
code=0; train gpt2-base "$tmp/bad" learning_rate=2e-3 || code=$?
[ $code = 3 ] && grep -q "optimizer.safetensors" "$tmp/log" || { cat "$tmp/log"; fail "a changed checkpoint: $code"; }
echo ok
