# The program's face: help, version, misspelt commands and options, exit codes, errors on stderr only.
set -u
fail=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check NAME WANTED_EXIT WANTED_TEXT ARGS...: runs hone, looks at the exit code and for the text in both outputs
check() {
    name=$1 want=$2 text=$3
    shift 3
    "$HONE" "$@" >"$work/out" 2>"$work/err"
    got=$?
    if [ $got -ne "$want" ]; then
        echo "$name: exit code $got, wanted $want"; cat "$work/err"; fail=1
    elif ! cat "$work/out" "$work/err" | grep -qF -- "$text"; then
        echo "$name: no '$text' in:"; cat "$work/out" "$work/err"; fail=1
    fi
}

check "no command" 0 "usage: hone VERB"
check "help" 0 "hone help options" --help
check "version" 0 "hone 0." --version
check "verb help" 0 "usage: hone train CONFIG.yaml" train --help
check "kind help" 0 "usage: hone inspect tokens" inspect tokens --help
check "misspelt verb" 2 "did you mean 'train'?" trian
check "far verb" 2 "hone --help lists" frobnicate
check "misspelt kind" 2 "did you mean 'tokens'?" inspect token
check "no kind" 2 "model, data, tokens, render" inspect
check "option help" 0 "HONE_LEARNING_RATE" help options learning_rate
check "misspelt option" 2 "did you mean 'learning_rate'?" help options lerning_rate
check "options list" 0 "gradient_accumulation_steps" help options
check "doctor" 0 "libraries" doctor
for verb in train eval "inspect data"; do
    # shellcheck disable=SC2086
    check "$verb without a config" 2 "needs a config: hone $verb CONFIG.yaml" $verb
done
check "help of a misspelt command" 2 "did you mean 'train'?" help tran
check "help of a kind" 0 "usage: hone inspect data CONFIG" help inspect data
check "doctor with words" 2 "takes no arguments" doctor please
# what a terminal would act on is not printed as it is, whatever path or data it comes from
esc=$(printf '\033[31m') csi=$(printf '\302\233')
check "controls in a path" 5 'cannot open '"$work"'/no\x1b[31m\xc2\x9bé.yaml' train "$work/no$esc${csi}é.yaml"
if grep -q "$esc\|$csi" "$work/err"; then echo "controls in a path: printed raw"; fail=1; fi
HONE_ISA=nonsense check "unknown isa" 2 "portable, avx2" doctor
HONE_ISA=portable check "forced isa" 0 "forced by HONE_ISA" doctor

# Every command and kind has a usage.
for verb in train eval chat export forward inspect doctor "inspect model" "inspect data" "inspect tokens" "inspect render"; do
    # shellcheck disable=SC2086
    check "usage of $verb" 0 "usage: hone $verb" $verb --help
done

# What a model is asked for must be possible, and JSON stays JSON in a folder whose name is not UTF-8.
model=$TEST_DATA/data/models/llama-base
check "no tokens" 2 "at least 1" inspect model "$model" --cutoff_len 0
check "too many tokens" 2 "at most 16777216 tokens" inspect model "$model" --cutoff_len 2147483647
check "too many samples" 2 "at most 16777216 tokens" inspect model "$model" --per_device_train_batch_size 2147483647
latin1=$work/mod$(printf '\351')le
cp -r "$model" "$latin1"
check "a path in Latin-1" 0 'mod\\xe9le' inspect model "$latin1" --json --cutoff_len 4

# Nothing of an error goes to stdout; with HONE_VERBOSE its path is told.
"$HONE" trian >"$work/out" 2>"$work/err"
[ -s "$work/out" ] && { echo "an error wrote to stdout"; fail=1; }
check "--verbose anywhere" 0 "libraries" doctor --verbose
"$HONE" trian --verbose 2>&1 | grep -q 'at unknown_verb (src/cli/main.c:' || { echo "no trail with --verbose"; fail=1; }
HONE_VERBOSE=1 "$HONE" trian 2>&1 | grep -q 'E_USAGE (exit code 2)' || { echo "no trail with HONE_VERBOSE"; fail=1; }

# Output that cannot be written is an error.
if [ -w /dev/full ]; then
    "$HONE" --help >/dev/full 2>"$work/err"
    [ $? -eq 5 ] || { echo "a full disk behind stdout was not noticed"; fail=1; }
fi
exit $fail
