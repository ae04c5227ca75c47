#!/bin/sh
# Encoding speed of hone beside the tokenizers library, on the same cores and the same documents.
#
#   bench/tokenizer.sh FOLDER [--names a,b,…] [--rounds 3] [--seconds 2] [--bench build/bench_tokenizer]
#
# FOLDER holds NAME.json files: the work folder of tools/golden/tokenizer_suite.py has published ones. The programs run in turn,
# so that a machine whose speed drifts slows both; each figure is the best pass of all rounds. Build bench_tokenizer first:
# cmake --build build --target bench_tokenizer. PYTHON names an interpreter with tokenizers.
exec "${PYTHON:-python3}" "$(dirname "$0")/tokenizer.py" "$@"
