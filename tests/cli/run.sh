#!/usr/bin/env bash
# What a run promises beyond its bits: schedules by optimizer steps, epochs, evaluation, faults that stop it, dtypes of what it writes.
set -euo pipefail
models=$TEST_DATA/data/models
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

# model, output, extra options; the exit code is in $code
train() {
    local model=$1 out=$2; shift 2
    code=0
    "$HONE" train model_name_or_path="$model" stage=sft finetuning_type=full dataset="$models/llama-base/train.jsonl" \
        output_dir="$out" threads=1 save_strategy=no "$@" >"$tmp/log" 2>&1 || code=$?
}
good() { train "$@"; [ $code = 0 ] || { cat "$tmp/log"; fail "$*: exit code $code"; }; }
refused() { local want=$1 text=$2; shift 2; train "$@"; [ $code = "$want" ] && grep -q -- "$text" "$tmp/log" || { cat "$tmp/log"; fail "$*: exit code $code"; }; }
field() { sed -n "$2p" "$1/metrics.jsonl" | grep -o "\"$3\":[^,}]*" | cut -d: -f2; }
llama=$models/llama-base

# The schedule counts optimizer steps: the same rates for accumulation 1 and 8, and after a resume at 40.
schedule="max_steps=100 learning_rate=1e-3 lr_scheduler_type=cosine warmup_steps=10 per_device_train_batch_size=1"
good "$llama" "$tmp/a" $schedule save_strategy=steps save_steps=40
good "$llama" "$tmp/b" $schedule gradient_accumulation_steps=8
mkdir "$tmp/c"; cp -r "$tmp/a/checkpoint-40" "$tmp/c/"
good "$llama" "$tmp/c" $schedule save_strategy=steps save_steps=40
grep -q "going on from" "$tmp/log" || fail "no resume at 40"
for pair in 1:0.0 11:0.001 56:0.0005; do
    for run in a b; do
        [ "$(field "$tmp/$run" ${pair%:*} learning_rate)" = "${pair#*:}" ] || fail "rate of line ${pair%:*} in $run: $(field "$tmp/$run" ${pair%:*} learning_rate)"
    done
done
diff <(grep -o '"learning_rate":[^,]*' "$tmp/a/metrics.jsonl" | tail -60) <(grep -o '"learning_rate":[^,]*' "$tmp/c/metrics.jsonl") || fail "rates after a resume"

# Saves and evaluations at the end of each epoch, however long it is.
good "$llama" "$tmp/epochs" num_train_epochs=3 per_device_train_batch_size=1 global_batch_tokens=40 save_strategy=epoch \
    eval_strategy=epoch eval_dataset="$llama/train.jsonl"
[ "$(ls -d "$tmp"/epochs/checkpoint-* | wc -l)" = 3 ] || fail "a checkpoint an epoch: $(ls "$tmp/epochs")"
[ "$(grep -c eval_loss "$tmp/epochs/metrics.jsonl")" = 3 ] || fail "an evaluation an epoch"
grep eval_loss "$tmp/epochs/metrics.jsonl" | grep -vq '"epoch":[123]\.0,' && fail "evaluations within epochs"
[ -f "$tmp/epochs/training_loss.png" ] || fail "no curve"
good "$llama" "$tmp/plain" max_steps=1 plot_loss=false
[ ! -e "$tmp/plain/training_loss.png" ] || fail "plot_loss: false"
grep -q "guessing among" "$tmp/log" || fail "the first loss is not judged"

# Rotary positions go on past what a model is made for, with a word.
grep -q "made for max_position_embeddings" "$tmp/log" && fail "a warning about short samples"
cp -r "$llama" "$tmp/short"; sed -i 's/"max_position_embeddings": 128/"max_position_embeddings": 3/' "$tmp/short/config.json"
good "$tmp/short" "$tmp/long" max_steps=1
grep -q "made for max_position_embeddings 3" "$tmp/log" || fail "no warning about long samples"

# The loss of an evaluation is a mean over tokens: no grouping changes it.
for n in 1 3 8; do
    "$HONE" eval model_name_or_path="$llama" stage=sft eval_dataset="$llama/train.jsonl" \
        per_device_eval_batch_size=$n threads=2 2>"$tmp/log" | tail -1 >"$tmp/eval-$n" || { cat "$tmp/log"; fail "eval"; }
    cmp "$tmp/eval-1" "$tmp/eval-$n" || fail "evaluation in groups of $n"
done
grep -qE '^\{"loss":[0-9.]+,"tokens":[0-9]+,"perplexity":[0-9.]+\}$' "$tmp/eval-1" || fail "form of the evaluation"

# Each evaluation data set on its own: what an evaluation of that one alone gives.
head -3 "$llama/train.jsonl" >"$tmp/a.jsonl"; tail -n +4 "$llama/train.jsonl" >"$tmp/b.jsonl"
printf '{"a": {"file_name": "a.jsonl"}, "b": {"file_name": "b.jsonl"}}' >"$tmp/dataset_info.json"
evaluate() { "$HONE" eval model_name_or_path="$llama" stage=sft data_format=ids dataset_dir="$tmp" "$@" 2>"$tmp/log" | tail -1; }
loss() { grep -o "\"$1\":[^,}]*" <<<"$2" | cut -d: -f2; }
each=$(evaluate eval_dataset=a,b eval_on_each_dataset=true)
for name in a b; do
    [ "$(loss "eval_${name}_loss" "$each")" = "$(loss loss "$(evaluate eval_dataset=$name)")" ] || fail "the loss on $name: $each"
done
[ "$(evaluate dataset="$tmp/absent.jsonl" eval_dataset=a)" = "$(evaluate eval_dataset=a)" ] || fail "evaluation read the training data"
good "$llama" "$tmp/each" max_steps=1 data_format=ids dataset_dir="$tmp" eval_dataset=a,b eval_on_each_dataset=true eval_strategy=steps
grep -qE '"eval_loss":[0-9.]+,"eval_tokens":[0-9]+,"eval_a_loss":[0-9.]+,"eval_b_loss":[0-9.]+,' "$tmp/each/metrics.jsonl" || fail "losses of each in metrics.jsonl"
refused 2 "eval_dataset, which is missing" "$llama" "$tmp/x" eval_on_each_dataset=true

# save_only_model: no state; nothing resumes from it, and output_dir is not overwritten in silence.
good "$llama" "$tmp/only" max_steps=2 save_strategy=steps save_steps=1 save_only_model=true
[ ! -e "$tmp/only/checkpoint-1/state" ] && [ -f "$tmp/only/checkpoint-1/config.json" ] || fail "save_only_model"
refused 9 "not empty" "$llama" "$tmp/only" max_steps=2 save_strategy=steps save_steps=1 save_only_model=true
refused 3 "no state/run.json" "$llama" "$tmp/fresh" max_steps=2 resume_from_checkpoint="$tmp/only/checkpoint-1"
refused 2 "no checkpoint to go on from" "$llama" "$tmp/fresh" max_steps=2 resume_from_checkpoint=true
# resume_from_checkpoint does not excuse an output_dir that holds something else
mkdir "$tmp/alien"; cp "$llama/config.json" "$tmp/alien/"
refused 9 "not empty" "$llama" "$tmp/alien" $schedule resume_from_checkpoint="$tmp/a/checkpoint-40"
cmp "$llama/config.json" "$tmp/alien/config.json" || fail "a refused run wrote"
# A save that was cut off is removed with a word, and the checkpoint before it serves.
mkdir -p "$tmp/c/.partial-checkpoint-96" "$tmp/c/checkpoint-97"; rm -r "$tmp/c/checkpoint-100"
good "$llama" "$tmp/c" $schedule save_strategy=steps save_steps=40 resume_from_checkpoint=true
grep -q "removing .*/.partial-checkpoint-96" "$tmp/log" && grep -q "checkpoint-97 has no state" "$tmp/log" \
    && grep -q "going on from .*/checkpoint-80" "$tmp/log" && [ ! -e "$tmp/c/.partial-checkpoint-96" ] || { cat "$tmp/log"; fail "a save cut off"; }
cmp "$tmp/a/model.safetensors" "$tmp/c/model.safetensors" || fail "weights after a save cut off"

# the same options, other rows
head -3 "$llama/train.jsonl" >"$tmp/rows.jsonl"
good "$llama" "$tmp/rows" max_steps=2 save_strategy=steps dataset="$tmp/rows.jsonl"
tail -3 "$llama/train.jsonl" >"$tmp/rows.jsonl"
refused 9 "other data" "$llama" "$tmp/rows" max_steps=2 save_strategy=steps dataset="$tmp/rows.jsonl"

# A model directory's fault shows before any data is read.
cp -r "$llama" "$tmp/short"; truncate -s -1 "$tmp/short/model.safetensors"
refused 3 "model.safetensors" "$tmp/short" "$tmp/fresh" max_steps=1 dataset="$tmp/nothing.jsonl"

# Not finite: the run stops with 8 and keeps what it saved, or skips the step; such weights are never saved.
nan() { printf '\x00\x00\xc0\x7f' | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") - 4)) conv=notrunc status=none; }
cp -r "$llama" "$tmp/nan"; nan "$tmp/nan/model.safetensors"
refused 8 "is not finite" "$tmp/nan" "$tmp/stop" max_steps=2
refused 8 "no model is written" "$tmp/nan" "$tmp/skip" max_steps=2 nonfinite=skip
[ "$(grep -c '"skipped":true' "$tmp/skip/metrics.jsonl")" = 2 ] || fail "skipped steps"
[ ! -e "$tmp/skip/model.safetensors" ] || fail "weights that are not finite were saved"

# What is written has the names, shapes and dtypes of the input, or the dtype asked for; config.json agrees.
header() { head -c $((8 + $(od -An -tu8 -N8 "$1"))) "$1" | tail -c +9; }
for model in qwen2-yarn-bf16 qwen3-base; do
    input=$(header "$models/$model/model.safetensors" | sed 's/ *$//')
    for bf16 in true false; do
        for dtype in as-input f32 bf16; do
            out=$tmp/dtype-$model-$bf16-$dtype
            good "$models/$model" "$out" max_steps=1 bf16=$bf16 export_dtype=$dtype
            case $dtype in f32) want='s/"BF16"/"F32"/g' ;; bf16) want='s/"F32"/"BF16"/g' ;; *) want= ;; esac
            strip='s/"data_offsets":\[[0-9, ]*\]//g; s/ *$//'
            [ "$(header "$out/model.safetensors" | sed "$strip")" = "$(echo "$input" | sed "$strip; $want")" ] || fail "header of $out"
            case $dtype in f32) grep -q '"\(torch_\)\?dtype": *"float32"' "$out/config.json" ;;
                bf16) grep -q '"\(torch_\)\?dtype": *"bfloat16"' "$out/config.json" ;;
                *) cmp "$models/$model/config.json" "$out/config.json" ;; esac || fail "dtype in config.json of $out"
            cmp "$models/$model/generation_config.json" "$out/generation_config.json" || fail "companions of $out"
        done
    done
done
echo ok
