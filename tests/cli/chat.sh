#!/usr/bin/env bash
# hone chat: one answer, a conversation, ids; the same bits on any number of threads; the warning about the turn's end.
set -euo pipefail
demo=$SOURCE_DIR/examples/demo/model
tiny=$TEST_DATA/data/models/qwen3-base
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
chat() { "$HONE" chat "$@" 2>"$tmp/log" || { cat "$tmp/log"; fail "chat $*"; }; }

chat "$tiny" --ids --prompt "[1, 2, 3]" --max-new-tokens 12 --threads 1 >"$tmp/one"
chat "$tiny" --ids --prompt "[1, 2, 3]" --max-new-tokens 12 --threads 3 >"$tmp/three"
cmp "$tmp/one" "$tmp/three" || fail "ids depend on threads"
grep -qE '^\[[0-9]+(, [0-9]+){0,11}\]$' "$tmp/one" || fail "form of ids: $(cat "$tmp/one")"
chat "$tiny" --ids --prompt "[1, 2, 3]" --max-new-tokens 12 --temperature 2 --seed 7 >"$tmp/drawn"
chat "$tiny" --ids --prompt "[1, 2, 3]" --max-new-tokens 12 --temperature 2 --seed 7 >"$tmp/again"
cmp "$tmp/drawn" "$tmp/again" || fail "draws of one seed differ"
grep -q max_position_embeddings "$tmp/log" && fail "a warning about a short prompt"
long=$(seq -s, 1 400 | sed 's/[0-9]\+/1/g')
chat "$tiny" --ids --prompt "[$long]" --max-new-tokens 1 >/dev/null
grep -q "400 tokens, and the model is made for max_position_embeddings" "$tmp/log" || fail "no warning about a long prompt"
code=0; "$HONE" chat "$tiny" --prompt hi >"$tmp/log" 2>&1 || code=$?
[ $code = 6 ] && grep -q -- "--ids" "$tmp/log" || fail "text without a tokenizer: $code"

[ -d "$demo" ] || { echo "no demo model: the rest is skipped"; exit 0; }

# A conversation's first answer is that of --prompt; the second has seen the first.
chat "$demo" --prompt "What is a kernel?" --max-new-tokens 24 >"$tmp/prompt"
printf 'What is a kernel?\nAnd a shell?\n' | chat "$demo" --max-new-tokens 24 >"$tmp/talk"
head -c "$(stat -c %s "$tmp/prompt")" "$tmp/talk" | cmp - "$tmp/prompt" || fail "a conversation begins otherwise than --prompt"
[ "$(stat -c %s "$tmp/talk")" -gt "$(stat -c %s "$tmp/prompt")" ] || fail "no second answer"

# Training answers whose end no tool would stop at is warned of.
cp -r "$demo" "$tmp/model"
warnings() {
    "$HONE" train model_name_or_path="$tmp/model" stage=sft finetuning_type=full dataset="$SOURCE_DIR/examples/demo/train.jsonl" \
        max_samples=4 max_steps=1 overwrite_output_dir=true output_dir="$tmp/out" save_strategy=no >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "train"; }
    grep -c 'most answers end with' "$tmp/log" || true
}
[ "$(warnings)" = 0 ] || fail "a warning without a reason: $(cat "$tmp/log")"
echo '{"eos_token_id": [0, 1]}' >"$tmp/model/generation_config.json"
[ "$(warnings)" = 1 ] || fail "no warning: $(cat "$tmp/log")"
echo ok
