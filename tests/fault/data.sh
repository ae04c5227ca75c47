#!/usr/bin/env bash
# Data larger than memory is meant to hold: it goes to a file without name, a full disk is an error, and a process that is
# killed leaves nothing that looks whole.
set -euo pipefail
model=$TEST_DATA/data/models/llama-base
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; cat "$tmp/log"; exit 1; }
cd "$tmp"
mkdir spill
export TMPDIR=$tmp/spill
row=$(printf '%s, ' $(seq 1000))
yes "{\"input_ids\": [${row%, }]}" | head -9000 >large.jsonl || :
options=(model_name_or_path="$model" finetuning_type=full stage=sft dataset=large.jsonl)

# nine million tokens are more than memory takes
"$HONE" inspect data "${options[@]}" --samples 0 >log 2>&1 || [ $? = 6 ] || fail "inspect data"
grep -q "dataset: 9000 rows, 9000 samples" log || fail "rows"
[ -z "$(ls spill)" ] || fail "left behind: $(ls spill)"
code=0
(ulimit -f 20000; exec "$HONE" inspect data "${options[@]}" --samples 0 >log 2>&1) || code=$?
[ $code = 5 ] || fail "no room: exit code $code"
grep -q "$TMPDIR.*set output_dir, or the variable TMPDIR" log || fail "no way out in the message"
[ -z "$(ls spill)" ] || fail "left behind: $(ls spill)"

# killed while preparing, at any moment: not there, or whole
for delay in 0 0.05 0.15 0.3; do
    rm -rf ready
    "$HONE" prepare "${options[@]}" --out ready >log 2>&1 &
    pid=$!
    for _ in $(seq 200); do [ -e ready.preparing ] || [ -e ready ] && break; sleep 0.01; done
    sleep $delay
    kill -9 $pid 2>/dev/null || :
    wait $pid 2>/dev/null || :
    [ ! -e ready ] || [ -f ready/manifest.json ] || fail "half a folder"
done
"$HONE" prepare "${options[@]}" --out ready >log 2>&1 || fail "preparing after a kill"
[ "$(stat -c %s ready/train.ids)" = 36000000 ] && [ ! -e ready.preparing ] || fail "what is prepared after a kill: $(ls -l ready*)"
echo ok
