# How the shipped LLaMA-Factory style of config meets the command line: what is refused, how, and with which exit code.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0
# A model and data that do not exist: every config here is refused before either is looked at.
cat >"$work/c.yaml" <<'YAML'
### model
model_name_or_path: nowhere
trust_remote_code: true

### method
stage: sft
do_train: true
finetuning_type: full

### dataset
dataset: none
cutoff_len: 2048
max_samples: 1000
preprocessing_num_workers: 16
dataloader_num_workers: 4

### output
output_dir: out
logging_steps: 10
save_steps: 500
plot_loss: true
overwrite_output_dir: true
save_only_model: false
report_to: none  # choices: [none, wandb, tensorboard, swanlab, mlflow]

### train
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
learning_rate: 1.0e-5
num_train_epochs: 3.0
lr_scheduler_type: cosine
warmup_ratio: 0.1
bf16: true
ddp_timeout: 180000000
resume_from_checkpoint: null
YAML

refused() {
    name=$1 want=$2 text=$3
    shift 3
    err=$(cd "$work" && "$HONE" train c.yaml "$@" 2>&1 >/dev/null)
    got=$?
    if [ $got -ne "$want" ] || ! echo "$err" | grep -qF -- "$text"; then
        echo "$name: exit code $got (wanted $want), no '$text' in: $err"; fail=1
    fi
}
refused "unknown key" 2 "did you mean 'learning_rate'?" --learning_rat 1
refused "unknown key, LLaMA-Factory style" 2 "did you mean 'cutoff_len'?" cutof_len=3
refused "wrong type" 2 "command line: max_steps wants a whole number, found the text 'many'" max_steps=many
refused "not yet" 4 "command line: compute_accuracy: true" --compute_accuracy
refused "lora" 4 "write finetuning_type: full" finetuning_type=lora
refused "contradiction" 2 "mask_history and train_on_prompt" --mask_history --train-on-prompt
refused "missing" 2 "dataset is missing" dataset=null
HONE_SEED=x refused "environment" 2 "environment variable HONE_SEED"
sed -i 's/^cutoff_len/cutoff_length/' "$work/c.yaml"
refused "unknown key in the file" 2 "c.yaml:12:1: unknown option 'cutoff_length'; did you mean 'cutoff_len'?"
printf 'seed: [1\n' >"$work/c.yaml"
refused "broken file" 2 "c.yaml:2:1: broken YAML"
rm "$work/c.yaml"
refused "no file" 5 "c.yaml"
# The resolved config names the source of each value, and loads again.
printf 'finetuning_type: full\nlearning_rate: 1e-4\n' >"$work/c.yaml"
(cd "$work" && HONE_SEED=7 "$HONE" help config c.yaml --bf16 >r.yaml && "$HONE" help config r.yaml >/dev/null) || { echo "help config failed"; fail=1; }
for line in 'learning_rate: 0.0001 *# c.yaml:2' 'seed: 7 *# environment HONE_SEED' 'bf16: true *# command line' 'cutoff_len: 2048 *# default'; do
    grep -q "^$line\$" "$work/r.yaml" || { echo "no '$line' in the resolved config"; fail=1; }
done
# A config of another recipe is shown as well, and then refused.
(cd "$work" && "$HONE" help config --finetuning_type lora --lora_rank 4 >l.yaml 2>l.log; [ $? = 4 ]) &&
    grep -q '^lora_rank: 4 *# command line$' "$work/l.yaml" && grep -q 'write finetuning_type: full' "$work/l.log" ||
    { echo "help config of a LoRA config"; fail=1; }
[ -e "$work/out" ] && { echo "something was written to output_dir"; fail=1; }
exit $fail
