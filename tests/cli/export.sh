# hone export: equal files from an untouched model, checkpoints without their state, dtypes, the hub cache, refusals.
set -u
fail=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

complain() { echo "$1"; cat out err; fail=1; }
# check NAME WANTED_EXIT WANTED_TEXT ARGS...: hone export ARGS, its exit code, and the text in either output
check() {
    name=$1 want=$2 text=$3
    shift 3
    "$HONE" export "$@" >out 2>err
    got=$?
    if [ $got -ne "$want" ]; then
        complain "$name: exit code $got, wanted $want"
    elif ! cat out err | grep -qF -- "$text"; then
        complain "$name: no '$text' in:"
    fi
}
# nothing_new NAME: no file or folder but those listed in `before`
nothing_new() { ls -A . | grep -vx 'out\|err' | diff before - || { echo "$1 left something behind"; fail=1; }; }

# A model of one F32 tensor: 1.0 and -2.0.
mkdir -p m/state
header='{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   '
{ printf '\130\0\0\0\0\0\0\0%s' "$header"; printf '\0\0\200\077\0\0\0\300'; } >m/model.safetensors
[ ${#header} -eq 88 ] || { echo "the test's own header has ${#header} bytes"; exit 1; }
printf '{\n  "model_type": "llama",\n  "dtype": "float32"\n}\n' >m/config.json
for f in tokenizer.json tokenizer_config.json vocab.json merges.txt special_tokens_map.json added_tokens.json \
         chat_template.jinja generation_config.json LICENSE README.md; do echo "$f" >m/$f; done
cp -r m plain
rm -r plain/state
echo optimizer >m/state/optimizer.safetensors
echo torch >m/pytorch_model.bin

check "as-input" 0 "1 tensors in 12 files" m same
diff -r plain same || { echo "export changed a file"; fail=1; }
check "as-input, spelt out" 0 "model.safetensors" m same2 --dtype as-input
diff -r plain same2 || { echo "export changed a file"; fail=1; }

check "bf16" 0 "config.json" --dtype=bf16 m half
grep -q '"dtype": "bfloat16"' half/config.json || { echo "config.json has the old dtype"; fail=1; }
grep -aq '"dtype":"BF16","shape":\[2\],"data_offsets":\[0,4\]' half/model.safetensors || { echo "not BF16"; fail=1; }
[ "$(tail -c 4 half/model.safetensors | od -An -tx1 | tr -d ' ')" = "803f00c0" ] || { echo "wrong values"; fail=1; }
check "and back" 0 "config.json" half back --dtype f32
tail -c 8 m/model.safetensors | cmp - <(tail -c 8 back/model.safetensors) || { echo "f32 values differ"; fail=1; }
cmp m/config.json back/config.json || fail=1

# A hub id in the cache.
mkdir -p hf/hub/models--org--tiny/refs hf/hub/models--org--tiny/snapshots
cp -r plain hf/hub/models--org--tiny/snapshots/abc
printf abc >hf/hub/models--org--tiny/refs/main
HF_HOME=$work/hf HF_HUB_CACHE='' check "hub id" 0 "1 tensors" org/tiny hub
diff -r plain hub || { echo "export from the cache changed a file"; fail=1; }

ls -A . | grep -vx 'out\|err\|before' >before; echo before >>before; sort -o before before
HF_HOME=$work/hf HF_HUB_CACHE='' check "unknown hub id" 5 'hf download org/huge' org/huge x
check "no such folder" 5 "there is no folder ./huge" ./huge x
check "target exists" 9 "not empty" m same
check "target is a file" 9 "not a folder" m before
check "one argument" 2 "needs two folders" m
check "three arguments" 2 "one more" m a b
check "unknown dtype" 2 "as-input, f32 or bf16" m x --dtype fp8
check "no dtype" 2 "needs a value" m x --dtype
check "unknown option" 2 "--overwrite" m x --overwrite
check "target cannot be made" 5 "/proc/x" m /proc/x/y
(trap '' XFSZ; ulimit -f 0; "$HONE" export m full 2>&1 | cat; exit "${PIPESTATUS[0]}") >/dev/null
[ $? -eq 5 ] || { echo "a failing write was not noticed"; fail=1; }
nothing_new "a refused export"

# A broken source.
cp -r plain broken
truncate -s -1 broken/model.safetensors
check "cut by a byte" 3 "broken/model.safetensors: the file is cut off" broken x
echo 'version https://git-lfs.github.com/spec/v1' >broken/model.safetensors
check "LFS pointer" 3 "git lfs pull" broken x
rm broken/model.safetensors
check "no weights" 3 "has no weights" broken x
touch broken/pytorch_model.bin
check "other weights" 4 "save_pretrained" broken x
rm -r broken
nothing_new "a broken source"
exit $fail
