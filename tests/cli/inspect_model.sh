# hone inspect model: the text of three families, blocks that only look alike, memory as training accounts it, any size.
set -u
fail=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
models=$TEST_DATA/data/models
# shellcheck source=tests/support/sparse_llama.sh
. "$TEST_DATA/support/sparse_llama.sh"

complain() { echo "$*"; fail=1; }
inspect() { "$HONE" inspect model "$@" >"$work/out" 2>"$work/err" || { complain "inspect model $*:"; cat "$work/err"; }; }
shows() { grep -qF -- "$1" "$work/out" || { complain "no '$1' in:"; cat "$work/out"; }; }

# The whole text, but for the path and for figures that depend on the instruction set.
for model in llama-base gemma3_text-base gpt_neox-old-buffers; do
    inspect "$models/$model" --threads 1
    sed -e '1s|.*/||' -e 's/[0-9.]* MB/N MB/g' "$work/out" >"$work/text"
    diff "$TEST_DATA/data/inspect/$model.txt" "$work/text" || complain "$model is shown in another way"
done

# Of blocks with the same modules, those that compute something else are told apart, in runs and at steady distances.
sparse_llama "$work/rope" 17 64 4 2 96 100 F32
sed -i 's/"model_type":"llama"/"model_type":"smollm3"/' "$work/rope/config.json"
inspect "$work/rope"
shows "blocks 0-2, 4-6, 8-10, 12-14, 16: full attention, 4 heads of 16 over 2, rope base 500000;"
shows "blocks 3, 7, ... 15: full attention, 4 heads of 16 over 2, no rotation;"
[ "$(grep -c '  layers\.' "$work/out")" -eq 1 ] || complain "modules that are the same are shown twice"
# … and so are those whose tensors have another dtype.
sparse_llama "$work/mixed" 3 64 4 2 96 100 BF16
LC_ALL=C sed -i 's/\("model.layers.1.mlp.up_proj.weight":{"dtype":\)"BF16"/\1"F16" /' "$work/mixed/model.safetensors"
inspect "$work/mixed"
shows "blocks 0, 2: full attention"
shows "block 1 (modules of model.layers.1): full attention"
shows "up_proj                 linear     weight [96, 64] F16"

# What is measured is what training accounts for, to the byte: kinds of layers, dtypes, recompute, samples at once, threads.
peak() { sed "s/.*\"dtype\": \"$1\", \"recompute\": \"$2\", \"fixed\": [0-9]*, \"peak\": \([0-9]*\).*/\1/" "$work/out"; }
check_memory() {
    model=$1 samples=$2 tokens=$3 threads=$4
    for _ in $(seq "$samples"); do
        awk -v n="$tokens" 'BEGIN { for (i = 0; i < n; i++) ids = ids (i ? "," : "") i % 7
                                    printf "{\"input_ids\":[%s],\"labels\":[%s]}\n", ids, ids }'
    done >"$work/rows.jsonl"
    inspect "$model" --cutoff_len "$tokens" --per_device_train_batch_size "$samples" --threads "$threads" --json
    for dtype in float32 bfloat16; do
        for recompute in layer none; do
            bf16=$([ $dtype = bfloat16 ] && echo true || echo false)
            rm -rf "$work/run"
            "$HONE" train model_name_or_path="$model" stage=sft finetuning_type=full dataset="$work/rows.jsonl" bf16=$bf16 \
                recompute=$recompute cutoff_len="$tokens" per_device_train_batch_size="$samples" gradient_accumulation_steps=1 \
                max_steps=5 save_strategy=no output_dir="$work/run" threads="$threads" plot_loss=false >"$work/log" 2>&1 ||
                { complain "training"; cat "$work/log"; }
            trained=$(tail -n 1 "$work/run/metrics.jsonl" | sed 's/.*"memory": *\([0-9]*\).*/\1/')
            [ "$trained" = "$(peak $dtype $recompute)" ] ||
                complain "$model, $dtype, recompute $recompute: $trained bytes in training, inspect says $(peak $dtype $recompute)"
        done
    done
}
check_memory "$models/llama-base" 2 500 2
check_memory "$models/gemma3_text-base" 1 700 1
check_memory "$models/gpt2-base" 3 40 3
check_memory "$models/apertus-base" 1 300 2

# Larger than any memory: 70 billion parameters, and no weight is read.
sparse_llama "$work/large" 80 8192 64 8 28672 128256 BF16
inspect "$work/large" --threads 2
shows "llama, 70,553,706,496 parameters; tensors: 723 BF16 in 1 file"
shows "blocks 0-79: full attention, 64 heads of 128 over 8"
shows "tensor parallel over 1, 2, 4, 8, 16, 32, 64 ranks"
shows "1129.52 GB fixed (16 bytes a parameter)"
shows "1270.79 GB fixed (18 bytes a parameter)"

# Fewer positions than the usual length; and arguments that make no sense.
inspect "$models/gpt2-base"
shows "1 sample of 72 tokens at once"
refused() {
    "$HONE" inspect model "$models/gpt2-base" "${@:2}" >"$work/out" 2>"$work/err" && complain "${*:2}: accepted"
    grep -qF -- "$1" "$work/err" || { complain "${*:2}: no '$1' in:"; cat "$work/err"; }
}
refused "the model has 72 positions; give cutoff_len 72 or less" --cutoff_len 73
refused "at least 1" --cutoff_len 0
refused "at least 1" --per_device_train_batch_size 0
refused "is at most 16777216 tokens" --cutoff_len 64 --per_device_train_batch_size 300000
refused "did you mean '--cutoff_len'?" --cutof_len 64

[ $fail -eq 0 ] && echo ok
exit $fail
