# tools/check sums the two runs of ctest, and its last line and exit code tell of failures and of builds that break.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0
mkdir -p "$work/bin" "$work/tools"
cp "$SOURCE_DIR/tools/check" "$work/tools"
printf '#!/bin/sh\n[ "$2" != "$BREAK" ]\n' >"$work/bin/cmake"
cat >"$work/bin/ctest" <<'STUB'
#!/bin/sh
case "$*" in
*sanitize*) cat "$SANITIZE" ;;
*) cat "$RELEASE" ;;
esac
STUB
chmod +x "$work"/bin/*
printf '100%% tests passed, 0 tests failed out of 12\n' >"$work/good"
printf 'x\n\n94%% tests passed, 1 tests failed out of 17\n\nTotal\n' >"$work/bad"
printf 'No tests were found!!!\n' >"$work/none"

# wanted EXIT LAST-LINE RELEASE-SUMMARY SANITIZE-SUMMARY PRESET-THAT-BREAKS
wanted() {
    out=$(PATH=$work/bin:$PATH RELEASE=$work/$3 SANITIZE=$work/$4 BREAK=$5 bash "$work/tools/check")
    got=$?
    [ $got -eq "$1" ] && [ "$(echo "$out" | tail -n 1)" = "$2" ] || { echo "wanted '$2' ($1), got ($got): $out"; fail=1; }
}
wanted 0 "24 passed, 0 failed" good good -
wanted 1 "28 passed, 1 failed" good bad -
wanted 1 "28 passed, 1 failed" bad good -
wanted 1 "12 passed, 1 failed" good none -
wanted 1 "12 passed, 1 failed" good good sanitize
wanted 1 "0 passed, 2 failed" none none -
exit $fail
