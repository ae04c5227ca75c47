#!/usr/bin/env bash
# `make demo`: asks the bundled model a question, trains it, exports it, and asks again. Writes demo-out/ only.
set -euo pipefail
export LC_ALL=C # a decimal point in numbers
cd "$(dirname "$0")/.."
hone=${HONE:-build/hone} base=examples/demo/model out=demo-out
question="What is the chemical symbol of gold?"

say() { echo; printf '%s\n' "$@"; }
show() { # a command, as one would type it, and what it prints
    printf '\n$ %s\n' "$*" | sed "s/$question/\"&\"/"
    "$@"
}
number() { printf '%.4f' "$(sed "s/.*\"$1\":\([^,}]*\).*/\1/")"; } # of a line of JSON

[ -x "$hone" ] || { echo "$hone is missing: run make"; exit 1; }
rm -rf "$out"
mkdir "$out"

say "== 1. The model before ==" "" \
    "$base is a Hugging Face model directory with 1.5 million weights. It has read dictionary entries," \
    "but no conversations. So it does not answer; it goes on with words that it has seen:"
show "$hone" chat "$base" --temperature 0 --max-new-tokens 20 --prompt "$question" | tee "$out/before.txt"

say "== 2. The data ==" "" \
    "examples/demo/train.jsonl holds $(wc -l <examples/demo/train.jsonl) conversations, one JSON object a line:" ""
head -n 2 examples/demo/train.jsonl
say "eval.jsonl asks for the same facts in other words, which are not in train.jsonl; our question is one of them." \
    "Their loss before training:"
show "$hone" eval examples/demo/sft.yaml

say "== 3. Training ==" "" "examples/demo/sft.yaml says what is trained, on what, and how:" ""
grep -v '^#' examples/demo/sft.yaml | grep -v '^$'
show "$hone" train examples/demo/sft.yaml

say "The loss fell from $(head -n 1 $out/run/metrics.jsonl | number loss) to $(tail -n 1 $out/run/metrics.jsonl | number loss)," \
    "on the held-out questions to $(tail -n 1 $out/run/metrics.jsonl | number eval_loss). In $out/run/ there are now" "" \
    "  model.safetensors, config.json, tokenizer.json, ...   the trained model, as other tools read it
  checkpoint-<step>/                                    a model, and in state/ what a run needs to go on from it
  metrics.jsonl                                         loss, learning rate, gradient norm, speed of each step
  training_loss.png                                     the loss as a picture
  config.resolved.yaml                                  every option and where its value came from"

say "== 4. Export ==" "" "Any model or checkpoint can be written as a directory of its own, here in another number format:"
show "$hone" export "$out/run" "$out/model" --dtype f32

say "== 5. The model after =="
show "$hone" chat "$out/model" --temperature 0 --max-new-tokens 20 --prompt "$question" | tee "$out/after.txt"

if grep -q "symbol of gold is Au" "$out/before.txt" || ! grep -q "symbol of gold is Au" "$out/after.txt"; then
    say "That is not as it should be: the answer is \"The symbol of gold is Au.\", after training and not before."
    exit 1
fi
say "Talk to it:            $hone chat $out/model" \
    "See what was trained:  $hone inspect data examples/demo/sft.yaml" \
    "Your own model:        examples/sft.yaml (chats), examples/cpt.yaml (text); README.md says more."
