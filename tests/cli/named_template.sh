#!/usr/bin/env bash
# template: NAME from the config to the exported model: what it refuses, what is trained, where the model is to stop.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/log" 2>/dev/null; exit 1; }

# A model of 97 rows of embeddings, and a tokenizer of letters that knows ChatML's marks.
cp -r "$TEST_DATA/data/models/llama-base" "$tmp/model"
chmod -R u+w "$tmp/model"
vocab='"<unk>": 0, "<eos>": 1'
n=2
for c in Ġ Ċ . a b c d e f g h i j k l m n o p q r s t u v w x y z; do vocab="$vocab, \"$c\": $n"; n=$((n + 1)); done
tokenizer() {   # the added tokens
    local list='{"id": 1, "content": "<eos>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}'
    local id=$n
    for t in "$@"; do
        list="$list, {\"id\": $id, \"content\": \"$t\", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": true}"
        id=$((id + 1))
    done
    cat >"$tmp/model/tokenizer.json" <<END
{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [$list], "normalizer": null,
 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}, "post_processor": null,
 "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
 "model": {"type": "BPE", "dropout": null, "unk_token": "<unk>", "continuing_subword_prefix": null, "end_of_word_suffix": null,
  "fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": {$vocab}, "merges": []}}
END
    echo '{"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<eos>"}' >"$tmp/model/tokenizer_config.json"
}
tokenizer "<|im_start|>" "<|im_end|>"
end=$((n + 1))
echo '{"temperature": 0.7, "eos_token_id": 1}' >"$tmp/model/generation_config.json"
cat >"$tmp/rows.jsonl" <<'END'
{"messages": [{"role": "user", "content": "say hi"}, {"role": "assistant", "content": "hi."}]}
{"messages": [{"role": "user", "content": "say bye"}, {"role": "assistant", "content": "bye."}]}
END
train() {
    "$HONE" train model_name_or_path="$tmp/model" stage=sft finetuning_type=full dataset="$tmp/rows.jsonl" max_steps=2 \
        per_device_train_batch_size=2 output_dir="$tmp/out" overwrite_output_dir=true plot_loss=false "$@" >"$tmp/log" 2>&1
}
refused() {     # exit code, text, options
    local want=$1 text=$2 got=0; shift 2
    train "$@" || got=$?
    [ $got = "$want" ] && grep -qF -- "$text" "$tmp/log" || fail "$*: exit code $got, wanted $want and '$text'"
}

refused 2 "template: qwen33 is no template that hone knows (did you mean qwen3?); leave template out" template=qwen33
refused 2 "tool_format: qwen33 is none of default, gemma4" template=qwen3 tool_format=qwen33
refused 4 "template: paligemma writes images" template=paligemma
refused 2 "train_on_prompt does not go with template: solar" template=solar train_on_prompt=true
refused 6 'template: yuan needs the token "<sep>"' template=yuan

# The template's end of a turn is where the model stops; the tokenizer's files stay as they are.
train template=qwen3_nothink || fail "training"
[ "$(tr -d ' \n' <"$tmp/out/generation_config.json")" = "{\"temperature\":0.7,\"eos_token_id\":[1,$end]}" ] ||
    fail "generation_config.json: $(cat "$tmp/out/generation_config.json")"
for f in tokenizer.json tokenizer_config.json; do cmp "$tmp/model/$f" "$tmp/out/$f" || fail "$f changed"; done
# It brings no chat template, so it gets the template's: prompts are written as they were in training.
[ -f "$tmp/out/chat_template.jinja" ] || fail "no chat template"
echo '{"messages": [{"role": "user", "content": "say hi"}, {"role": "assistant", "content": "hi."}]}' >"$tmp/one.jsonl"
for options in "template=qwen3_nothink model_name_or_path=$tmp/model" "model_name_or_path=$tmp/out"; do
    "$HONE" inspect data $options dataset="$tmp/one.jsonl" --json 2>/dev/null | sed 's/.*"ids": \(\[[^]]*\]\).*/\1/'
done >"$tmp/ids"
[ "$(sort -u "$tmp/ids" | wc -l)" = 1 ] && [ "$(wc -l <"$tmp/ids")" = 2 ] || fail "other prompts: $(cat "$tmp/ids")"
echo '{{ messages[0].content }}' >"$tmp/model/chat_template.jinja"
train template=qwen3_nothink || fail "training with a chat template"
cmp "$tmp/model/chat_template.jinja" "$tmp/out/chat_template.jinja" || fail "the chat template changed"
rm "$tmp/model/chat_template.jinja"
# Without a file of its own, the model's config says what there is already.
rm "$tmp/model/generation_config.json"
train template=qwen3_nothink || fail "training without generation_config.json"
grep -q "\"eos_token_id\": \[.*\b$end\]" "$tmp/out/generation_config.json" || fail "$(cat "$tmp/out/generation_config.json")"
# What the model's file lists already stays byte for byte.
echo "{\"eos_token_id\": [$end, 1]}" >"$tmp/model/generation_config.json"
train template=qwen3_nothink || fail "training"
cmp "$tmp/model/generation_config.json" "$tmp/out/generation_config.json" || fail "generation_config.json changed"

# Tokens that the vocabulary lacks: fine while the model has rows for them, else refused by name.
tokenizer "<|im_start|>"
train template=qwen3_nothink || fail "a spare row"
tokenizer $(for i in $(seq $((97 - n))); do echo "<x$i>"; done)
refused 6 "template: qwen3_nothink uses the token <|im_end|>, which the tokenizer of $tmp/model lacks" template=qwen3_nothink
"$HONE" inspect data model_name_or_path="$tmp/model" dataset="$tmp/rows.jsonl" template=qwen3_nothink --json >"$tmp/json" 2>"$tmp/log" ||
    fail "inspect data"
grep -q "warning: template: qwen3_nothink uses the token <|im_end|>, which the vocabulary lacks; here it has the id 97" "$tmp/log" ||
    fail "no warning"
"$HONE" inspect data model_name_or_path="$tmp/model" dataset="$tmp/rows.jsonl" template=qwen3_nothink >"$tmp/text" 2>"$tmp/log" &&
    fail "inspect data of tokens that the model has no rows for"
grep -q "error: template: qwen3_nothink uses the token <|im_end|>, which the tokenizer of $tmp/model lacks" "$tmp/log" ||
    fail "inspect data says less than training: $(cat "$tmp/log")"
grep -q "\b97, " "$tmp/json" || fail "ids: $(cat "$tmp/json")"
