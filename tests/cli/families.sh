#!/usr/bin/env bash
# The commands over families that differ most: soft caps and norms behind layers; activations with parameters and stacked weights;
# parallel blocks with dropout; longrope. Train, stop and go on with the same bits, evaluate, export, generate, inspect.
set -euo pipefail
models=$TEST_DATA/data/models
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; [ ! -f "$tmp/log" ] || cat "$tmp/log"; exit 1; }
run() { "$HONE" "$@" >"$tmp/log" 2>&1 || fail "hone $*"; }

# long samples, so that rotary scalings and windows act
for n in 5 33 12 40 18 3 37 22; do
    ids=$(seq 1 "$n" | awk -v n="$n" '{ printf "%s%d", (NR > 1 ? "," : ""), (7 * $1 + 3 * n + $1 * n) % 59 }')
    echo "{\"input_ids\": [$ids], \"labels\": [$ids]}"
done >"$tmp/rows.jsonl"

train() {
    local model=$1 out=$2; shift 2
    run train model_name_or_path="$models/$model" stage=sft finetuning_type=full dataset="$tmp/rows.jsonl" output_dir="$out" \
        per_device_train_batch_size=2 gradient_accumulation_steps=2 max_steps=4 learning_rate=1e-3 save_steps=2 threads=1 "$@"
}

for model in gemma2-base apertus-base stablelm-parallel-qk-norm gpt_neox-sequential phi3-longrope; do
    [ -d "$models/$model" ] || fail "$model is not there"
    for bf16 in false true; do
        rm -rf "$tmp/out" "$tmp/again" "$tmp/export"
        train "$model" "$tmp/out" bf16=$bf16
        mkdir "$tmp/again"
        cp -r "$tmp/out/checkpoint-2" "$tmp/out/metrics.jsonl" "$tmp/again/"
        train "$model" "$tmp/again" bf16=$bf16 threads=2
        grep -q "going on from .*checkpoint-2" "$tmp/log" || fail "$model did not go on from its checkpoint"
        cmp "$tmp/out/model.safetensors" "$tmp/again/model.safetensors" || fail "$model, bf16 $bf16: other weights after going on"
        cmp "$models/$model/model.safetensors" "$tmp/out/model.safetensors" >/dev/null && fail "$model was not trained"
    done
    for name in config.json generation_config.json; do
        cmp "$models/$model/$name" "$tmp/out/$name" || fail "$model: $name is not as it came"
    done
    run export "$tmp/out/checkpoint-4" "$tmp/export"
    cmp "$tmp/out/model.safetensors" "$tmp/export/model.safetensors" || fail "$model: its last checkpoint is another model"
    run eval model_name_or_path="$tmp/export" stage=sft finetuning_type=full eval_dataset="$tmp/rows.jsonl" threads=1
    tail -1 "$tmp/log" | grep -q '"loss"' || fail "$model: no loss from hone eval"
    run chat "$tmp/export" --ids --prompt "[1, 2, 3]" --max-new-tokens 24 --threads 1
    run inspect model "$tmp/export"
    grep -q "memory to train" "$tmp/log" || fail "$model: inspect model"
done
echo ok
