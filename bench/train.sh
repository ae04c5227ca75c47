#!/bin/sh
# Training speed and memory of hone beside transformers + PyTorch, on the same cores and the same tokens.
#
#   bench/train.sh [--shapes qwen3-10m,gpt2,qwen2-0.5b] [--modes f32,bf16] [--rounds 3] [--steps 6] [--warmup 2]
#                  [--cores 0,1] [--hone build/hone] [--llmc PATH] [--work DIR] [--json FILE]
#
# The programs run in turn, so that a machine whose speed drifts slows all of them; each figure is the median of its rounds.
# PYTHON names an interpreter with the packages of tools/golden/requirements.txt and numpy. The models, with random weights,
# are made once in DIR (default /tmp/hone-bench).
#
# llm.c takes part on gpt2 when its binary is given. It fixes batch and length when it is compiled:
#
#   git clone https://github.com/karpathy/llm.c /tmp/llm.c && cd /tmp/llm.c
#   sed -i 's/int B = 4;/int B = 2;/; s/int T = 64;/int T = 512;/; s/val_num_batches = 5/val_num_batches = 1/' train_gpt2.c
#   make train_gpt2
exec "${PYTHON:-python3}" "$(dirname "$0")/train.py" "$@"
