#!/bin/sh
# Preparing data: speed, memory, and how soon a run starts from it.
#
#   bench/prepare.sh [--size GB] [--rounds N] [--threads N] [--model DIR] [--hone build/hone] [--work DIR]
#
# Makes a synthetic file of chats (1 GB by default) in DIR (default /tmp/hone-bench), prepares it, and starts runs from it, each
# until it has planned its first step. The model (default: the bundled examples/demo/model) gives the tokenizer and the template.
exec "${PYTHON:-python3}" "$(dirname "$0")/prepare.py" "$@"
