#!/usr/bin/env bash
# Whatever happens to output_dir: files that are not the run's own stay, a checkpoint is whole or ignored, and a run that was
# killed at any moment goes on to the result of the unbroken one.
set -euo pipefail
models=$TEST_DATA/data/models
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/log"; exit 1; }
cp -r "$models/llama-base" "$tmp/model"
cp -r "$models/llama-base" "$tmp/changed"
m=$tmp/model
out=$tmp/out

options=(model_name_or_path="$m" stage=sft finetuning_type=full dataset="$m/train.jsonl" output_dir="$out" max_steps=6 save_steps=1
    learning_rate=1e-3 per_device_train_batch_size=1 threads=1)
train() { timeout 60 "$HONE" train "${options[@]}" "$@" >"$tmp/log" 2>&1 </dev/null; }
refused() {
    local want=$1 text=$2 code=0; shift 2
    train "$@" || code=$?
    [ $code = "$want" ] || fail "exit code $code, not $want: $text"
    grep -qF -- "$text" "$tmp/log" || fail "no \"$text\" in the message"
}

# what is in the way stays as it is
for name in notes.txt my.tmp-1 metrics.jsonl.bak; do
    rm -rf "$out"; mkdir "$out"; echo mine >"$out/$name"
    refused 9 "$name"
    [ "$(cat "$out/$name")" = mine ] || fail "$name was touched"
done
rm -rf "$out"; mkdir -p "$out/metrics.jsonl"; echo mine >"$out/metrics.jsonl/x"
refused 9 "metrics.jsonl"
[ -f "$out/metrics.jsonl/x" ] || fail "a folder called metrics.jsonl was removed"
rm -rf "$out"; echo mine >"$out"
refused 5 "it is no folder"
refused 5 "it is no folder" output_dir="$out/below"
rm "$out"; ln -s "$tmp/nowhere/x" "$out"
refused 5 "cannot make the folder"
[ ! -e "$tmp/nowhere" ] || fail "a dangling link was followed"
rm "$out"
if [ "$(id -u)" != 0 ]; then
    mkdir -m 555 "$out"
    refused 5 "cannot write into output_dir"
    rmdir "$out"
fi

# a run does not remove what it starts from
train || fail "training"
cp -r "$out" "$tmp/base"
refused 9 "would be overwritten" model_name_or_path="$out/checkpoint-3" overwrite_output_dir=true
refused 9 "would be overwritten" model_name_or_path="$out" overwrite_output_dir=true
cmp "$out/checkpoint-3/model.safetensors" "$tmp/base/checkpoint-3/model.safetensors" || fail "the model was touched"

# a checkpoint that is not as it was written
back() { rm -rf "$out"; mkdir "$out"; cp -r "$tmp/base/checkpoint-3" "$tmp/base/metrics.jsonl" "$out/"; }
c=$out/checkpoint-3
same() { cmp "$out/model.safetensors" "$tmp/base/model.safetensors" && [ "$(wc -l <"$out/metrics.jsonl")" = 6 ] || fail "$1"; }
back; train || fail "going on"; same "going on"
back; rm "$c/model.safetensors";                    refused 5 "model.safetensors"
back; rm "$c/state/optimizer.safetensors";          refused 5 "optimizer.safetensors"
back; echo >>"$c/config.json";                      refused 3 "config.json was changed"
back; truncate -s -1 "$c/state/optimizer.safetensors"; refused 3 "optimizer.safetensors was changed"
back; : >"$c/state/run.json";                       refused 3 "run.json: broken JSON"
back; echo '{}' >"$c/state/run.json";               refused 3 "lacks the fields"
back; rm "$c/state/run.json"; mkfifo "$c/state/run.json"; refused 5 "not a regular file"
back; sed -i 's/"step": 3/"step": -3/' "$c/state/run.json";          refused 3 "step and updates"
back; sed -i 's/"updates": 3/"updates": 99/' "$c/state/run.json";    refused 3 "step and updates"
back; refused 9 "max_steps" max_steps=2
back; refused 9 "learning_rate" learning_rate=2e-3
back; sed -i 's/"rms_norm_eps": [^,]*/"rms_norm_eps": 0.001/' "$m/config.json"; refused 9 "another config.json"
cp "$tmp/changed/config.json" "$m/config.json"
back; sed -i 1d "$m/train.jsonl";                   refused 9 "other data"
cp "$tmp/changed/train.jsonl" "$m/train.jsonl"
# what is left of a save that did not end is no checkpoint
back; cp -r "$c" "$out/.partial-checkpoint-4"; mkdir "$out/checkpoint-5"; train || fail "half a checkpoint"; same "half a checkpoint"
# metrics.jsonl
back; truncate -s -9 "$out/metrics.jsonl"; train || fail "a line cut"; same "a line cut"
back; head -c 300 /dev/urandom >"$out/metrics.jsonl"; train || fail "garbage in metrics.jsonl"
back; rm "$out/metrics.jsonl"; mkfifo "$out/metrics.jsonl"; refused 5 "metrics.jsonl"

# kill -9 at any moment of a run that saves all the time
for ms in 010 015 020 025 030 040 050 060 080 100; do
    rm -rf "$out"
    "$HONE" train "${options[@]}" >"$tmp/log" 2>&1 & pid=$!
    sleep 0.$ms
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    train || fail "going on after kill -9 at $ms ms"
    same "the result after kill -9 at $ms ms"
    [ -z "$(ls -A "$out" | grep '^\.')" ] || fail "left behind: $(ls -A "$out")"
done

# two runs at a time
rm -rf "$out"
"$HONE" train "${options[@]}" max_steps=100000 save_steps=50 save_total_limit=1 >"$tmp/first" 2>&1 & pid=$!
for _ in $(seq 200); do ls -d "$out"/checkpoint-* >/dev/null 2>&1 && break; sleep 0.02; done
refused 9 "another process is writing"
kill -9 $pid; wait $pid 2>/dev/null || true

# not finite: the documented code, the last good checkpoint stays, and nothing is written as if it were trained
rm -rf "$out"; refused 8 "is not finite" learning_rate=1000 weight_decay=1000 max_steps=40
[ -f "$out/checkpoint-1/state/run.json" ] && [ ! -e "$out/model.safetensors" ] || fail "after a loss that is not finite"
rm -rf "$out"; cp "$m/model.safetensors" "$tmp/weights"
size=$(stat -c %s "$m/model.safetensors")
printf '\0\0\300\177' | dd of="$m/model.safetensors" bs=1 seek=$((size - 4)) conv=notrunc status=none
refused 8 "model.norm.weight" nonfinite=skip
[ ! -e "$out/model.safetensors" ] || fail "a model that is not finite"

# a full disk, where a small file system can be mounted
rm -rf "$out"; cp "$tmp/weights" "$m/model.safetensors"; mkdir "$tmp/small"
if mount -t tmpfs -o size=600k tmpfs "$tmp/small" 2>/dev/null; then
    code=0; train output_dir="$tmp/small/out" || code=$?
    ls -A "$tmp/small/out" >"$tmp/names"
    umount "$tmp/small"
    [ $code = 5 ] && grep -q "No space left" "$tmp/log" || fail "a full disk: $code"
    grep -q "^checkpoint-" "$tmp/names" && ! grep -q "^\." "$tmp/names" || fail "a full disk leaves $(cat "$tmp/names")"
fi
echo ok
