#!/bin/sh
# Fine-tunes a real model with hone and with transformers + PyTorch: the same rows, AdamW, schedule and order. Prints losses and
# gradient norms step by step side by side, how far they differ, tokens/s as a ratio, and peak memory.
#
#   bench/real_model.sh MODEL [--modes f32,bf16] [--steps 12] [--length 512] [--rounds 1] [--warmup 2] [--cores 0,1]
#                       [--hone build/hone] [--work DIR] [--json FILE]
#
# MODEL is a Hugging Face directory, such as tools/real_model/gemma3_270m.py makes. A row, and a step, is --length tokens of this
# project's documentation; the first eighth of a row has no labels. The rows are made once, by transformers' tokenizer, whose
# ids hone's must equal. The programs run one at a time, in turn, on the same cores; --json is written after each. Needs 9 GB
# of memory for a model of 270 million weights. PYTHON names an interpreter with the packages of
# tools/real_model/requirements.txt. PyTorch runs as
#
#   exact     f32, the loss in f64: PyTorch's own loss is off by some 1e-5 on a vocabulary of 262,144   compared with hone's f32
#   f32       everything in f32
#   masters   forward and backward in bf16, weights and moments in f32                                  compared with hone's bf16
#   autocast  as masters, but the residual stream is f32
#   bf16      weights and moments in bf16, too
exec "${PYTHON:-python3}" "$(dirname "$0")/real_model.py" "$@"
