#!/usr/bin/env bash
# The demo's training, a few steps of it: its loss falls, its output is complete, and its other files fit the model.
set -euo pipefail
export LC_ALL=C # a decimal point in numbers
cd "$SOURCE_DIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/log"; exit 1; }

"$HONE" train examples/demo/sft.yaml output_dir="$tmp/run" max_steps=15 eval_strategy=no >"$tmp/log" 2>&1 || fail "training"
sed 's/.*"loss":\([^,]*\),.*/\1/' "$tmp/run/metrics.jsonl" >"$tmp/loss"
[ "$(wc -l <"$tmp/loss")" = 15 ] || fail "one line a step"
awk 'NR == 1 { first = $1 } END { exit !($1 < 0.7 * first) }' "$tmp/loss" || fail "the loss does not fall: $(tr '\n' ' ' <"$tmp/loss")"
for f in model.safetensors config.json generation_config.json tokenizer.json tokenizer_config.json chat_template.jinja metrics.jsonl \
    config.resolved.yaml training_loss.png checkpoint-15/model.safetensors checkpoint-15/state/run.json; do
    [ -s "$tmp/run/$f" ] || fail "$f is missing"
done
for f in tokenizer.json chat_template.jinja; do
    cmp "examples/demo/model/$f" "$tmp/run/$f" || fail "$f is not the model's"
done

"$HONE" eval examples/demo/sft.yaml >"$tmp/eval" 2>"$tmp/log" || fail "evaluation"
"$HONE" eval examples/demo/sft.yaml model_name_or_path="$tmp/run" >>"$tmp/eval" 2>"$tmp/log" || fail "evaluation"
sed 's/.*"loss":\([^,]*\),.*/\1/' "$tmp/eval" | tr '\n' ' ' | awk '{ exit !($2 < $1) }' || fail "held out: $(cat "$tmp/eval")"
"$HONE" export "$tmp/run" "$tmp/model" --dtype f32 >"$tmp/log" 2>&1 || fail "export"
"$HONE" chat "$tmp/model" --temperature 0 --max-new-tokens 4 --prompt "What is gold?" >"$tmp/log" 2>&1 || fail "chat"

# No held-out conversation is trained on.
[ -z "$(sort examples/demo/train.jsonl examples/demo/eval.jsonl | uniq -d)" ] || fail "rows of train.jsonl are in eval.jsonl"
