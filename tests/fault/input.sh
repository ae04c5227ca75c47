#!/usr/bin/env bash
# Bad input is refused before training: the documented exit code, a message with the place, and nothing left in output_dir.
set -euo pipefail
models=$TEST_DATA/data/models
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/log"; exit 1; }
row='{"input_ids": [1, 2, 3, 4], "labels": [1, 2, 3, 4]}'
m=$tmp/model
w=$m/model.safetensors

fresh() { rm -rf "$m" "$tmp/out"; cp -r "$models/${1:-llama-base}" "$m"; rm -f "$m"/expected*; }
# exit code, text of the message, options
refused() {
    local want=$1 text=$2 code=0; shift 2
    timeout 60 "$HONE" train model_name_or_path="$m" stage=sft finetuning_type=full dataset="$m/train.jsonl" output_dir="$tmp/out" \
        max_steps=2 threads=1 "$@" >"$tmp/log" 2>&1 </dev/null || code=$?
    [ $code = "$want" ] || fail "exit code $code, not $want: $text"
    grep -qF -- "$text" "$tmp/log" || fail "no \"$text\" in the message"
    [ -z "$(ls -A "$tmp/out" 2>/dev/null)" ] || fail "output_dir is not empty after: $text"
}
config() { fresh "${4:-llama-base}"; sed -i "s/\"$1\": [^,]*/\"$1\": $2/" "$m/config.json"; refused "${5:-3}" "$3"; }
header() { fresh; LC_ALL=C sed -i "$1" "$w"; refused "$2" "$3"; }
data() { fresh; printf '%b' "$1" >"$m/d.jsonl"; local want=$2 text=$3; shift 3; refused "$want" "$text" dataset="$m/d.jsonl" "$@"; }

# weights
fresh; truncate -s -1 "$w";                                         refused 3 "model.safetensors: the file is cut off"
fresh; printf x >>"$w";                                             refused 3 "follow the last tensor's data"
fresh; printf '\377\377\377\377\377\377\377\177' | dd of="$w" conv=notrunc status=none
                                                                    refused 3 "its header should have"
fresh; : >"$w";                                                     refused 3 "the file is empty"
fresh; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >"$w"
                                                                    refused 3 "Git LFS pointer"
fresh; rm "$w";                                                     refused 3 "has no weights"
fresh; rm "$w"; mkdir "$w";                                         refused 5 "not a regular file"
fresh; rm "$w"; mkfifo "$w";                                        refused 5 "not a regular file"
fresh; rm "$w"; ln -s /dev/zero "$w";                               refused 5 "not a regular file"
header 's/\[97,24\]/[24,97]/' 11 'has shape [24, 97]'
header 's/"F32"/"I32"/' 4 'model.safetensors'
header 's/\[0,9312\]/[4,9316]/' 3 'tensor'
fresh; printf '{"metadata": {}, "weight_map": {"lm_head.weight": "model-2.safetensors"}}' >"$m/model.safetensors.index.json"; rm "$w"
                                                                    refused 3 "model-2.safetensors is missing"

# config.json: wrong types, and numbers that nothing can be built from
for key in num_hidden_layers hidden_size num_attention_heads num_key_value_heads head_dim vocab_size; do
    for value in 0 -1 99999999999 1e300 '"x"' '[]'; do config $key "$value" "\"$key\""; done
done
for key in n_layer n_embd n_head n_positions; do config $key 0 "\"$key\"" gpt2-base; done
config vocab_size 2147483647 'lm_head.weight' llama-base 11
config rms_norm_eps -1 '"rms_norm_eps"'
config rope_type 5 'the rope type must be a string'
config model_type '"mamba"' 'mamba' llama-base 4
fresh; sed -i 's/{/{"rope_scaling": 5,/' "$m/config.json";          refused 3 "rope settings must be an object"
fresh; sed -i 's/{/{"new_feature": 5,/' "$m/config.json";           refused 4 '"new_feature"'
for text in '' '[]' '{' '\xff{}' '{"a": 1}\0'; do fresh; printf "$text" >"$m/config.json"; refused 3 "config.json"; done
fresh; rm "$m/config.json"; mkfifo "$m/config.json";                refused 5 "config.json"

# data
data "$row\n$row\n{\"input_ids\": [1,\n" 3 "d.jsonl: line 3: broken JSON"
data "$row\n\xff\n" 3 "line 2: invalid UTF-8"
data '' 6 "has no rows"
data '\n\n' 6 "has no rows"
data '' 6 "has no rows" val_size=0.5
data "$row\n" 2 "val_size" val_size=1
data '{"input_ids": [1, 2], "labels": [-100, -100]}\n' 6 "have no token with a loss"
data '{"input_ids": [1]}\n' 6 "have no token with a loss"
data "$row\n{\"input_ids\": [1, 97]}\n" 6 "line 2"
data '{"input_ids": [1, 2], "labels": [1, 97]}\n' 6 "line 1"
data '{"input_ids": [1, -1]}\n' 3 'line 1: "input_ids"[1]'
data '{"input_ids": [1, 2], "labels": [1, -5]}\n' 3 '"labels"[1]'
data '{"input_ids": [1, 99999999999]}\n' 3 '"input_ids"[1]'
data '{"input_ids": [1, 2], "labels": [1]}\n' 3 "1 labels for 2 input_ids"
data '{"messages": [{"role": "user", "content": "x"}]}\n' 6 "no tokenizer"
data '{"text": "x"}\n' 6 "has none (tokenizer.json" stage=pt
data '5\n' 3 "line 1"
data "$(printf '[%.0s' $(seq 5000))\n" 3 "more than 2048 deep"
data "$row\n" 2 "num_train_epochs" max_steps=-1 num_train_epochs=1e9 global_batch_tokens=4
fresh; mkfifo "$m/d.jsonl";                                         refused 5 "not a regular file" dataset="$m/d.jsonl"
fresh gpt2-base; printf '{"input_ids": [1%s]}\n' "$(printf ', 1%.0s' $(seq 72))" >"$m/d.jsonl"
                                                                    refused 6 "set cutoff_len to 72" dataset="$m/d.jsonl"

# options
fresh
refused 2 "did you mean 'learning_rate'" lerning_rate=1
refused 2 "must lie between 0 and 1024" threads=1025
refused 2 "must be at most" pack_length=9223372036854775807
refused 2 "adam_epsilon" adam_epsilon=0
refused 2 "keep one" global_batch_size=1 global_batch_tokens=1
refused 5 "no folder" model_name_or_path="$tmp/nope"
refused 5 "is a file" model_name_or_path=/dev/null
HONE_ISA=avx9 refused 2 "HONE_ISA=avx9"
# hone forward: inputs that are no samples, and outputs that are no files
st() { printf "\\x$(printf %02x ${#1})\\0\\0\\0\\0\\0\\0\\0%s$2" "$1" >"$tmp/in"; }
forward() {
    local want=$1 text=$2 code=0; shift 2
    timeout 60 "$HONE" forward "$m" --input "$tmp/in" --output "$tmp/result" "$@" >"$tmp/log" 2>&1 || code=$?
    [ $code = "$want" ] || fail "hone forward: exit code $code, not $want: $text"
    grep -qF -- "$text" "$tmp/log" || fail "no \"$text\" in the message"
    [ ! -e "$tmp/result" ] || fail "output after: $text"
}
tensor() { printf '"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%s]}' "$@"; }
st "{$(tensor tokens.0 F32 2 0,8)}" '\0\0\0\0\0\0\0\0';      forward 3 "must be an int32 vector"
st "{$(tensor tokens.0 I32 1,2 0,8)}" '\0\0\0\0\0\0\0\0';    forward 3 "must be an int32 vector"
st "{$(tensor tokens.0 I32 0 0,0)}" '';                      forward 3 "has 0 elements"
st "{$(tensor tokens.1 I32 1 0,4)}" '\0\0\0\0';              forward 3 'no tensor "tokens.0"'
st "{$(tensor tokens.0 I32 1 0,4),$(tensor tokens.00 I32 1 4,8)}" '\0\0\0\0\0\0\0\0'; forward 3 '"tokens.00"'
st "{$(tensor tokens.0 I32 1 0,4),$(tensor tokens.2 I32 1 4,8)}" '\0\0\0\0\0\0\0\0';  forward 3 '"tokens.2"'
st "{$(tensor tokens.0 I32 2 0,8)}" '\1\0\0\0\141\0\0\0';    forward 6 "is id 97"
st "{$(tensor tokens.0 I32 2 0,8)}" '\1\0\0\0\377\377\377\377'; forward 6 "is id -1"
st "{$(tensor labels.0 I32 2 0,8),$(tensor tokens.0 I32 2 8,16)}" '\1\0\0\0\373\377\377\377\1\0\0\0\1\0\0\0'; forward 6 "is -5"
st "{$(tensor labels.0 I32 2 0,8),$(tensor tokens.0 I32 2 8,16)}" '\1\0\0\0\234\377\377\377\1\0\0\0\1\0\0\0'; forward 6 "the loss has no value"
st "{$(tensor tokens.0 I32 2 0,8)}" '\1\0\0\0\2\0\0\0'
mkfifo "$tmp/pipe"
forward 5 "no regular file" --output "$tmp/pipe"
forward 5 "is empty" --output ""
fresh gpt2-base; st "{$(tensor tokens.0 I32 73 0,292)}" "$(printf '\\0%.0s' $(seq 292))"; forward 6 "72"

code=0; timeout 20 "$HONE" train /dev/zero >"$tmp/log" 2>&1 || code=$?
[ $code = 5 ] || fail "a configuration without end: $code"
code=0; "$HONE" train <(echo "stage: sft") >"$tmp/log" 2>&1 || code=$?
[ $code = 4 ] || fail "a configuration from a pipe: $code"
echo ok
