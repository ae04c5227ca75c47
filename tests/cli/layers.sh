# The sources keep to the layers, and tools/layers notices each way of not doing so.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0
mkdir -p "$work"/base "$work"/option "$work"/device/cuda "$work"/comm "$work"/op "$work"/kernel/cpu "$work"/cli
touch "$work"/base/str.h "$work"/option/option.h "$work"/device/device.h "$work"/op/op.h "$work"/kernel/tables.h

"$SOURCE_DIR/tools/layers" || fail=1

# breaks TEXT FILE INCLUDE-LINE
breaks() {
    printf '\n%s\n' "$3" >"$work/$2"
    if out=$("$SOURCE_DIR/tools/layers" "$work"); then
        echo "accepted: $3 in $2"; fail=1
    elif ! echo "$out" | grep -qF "src/$2:2: " || ! echo "$out" | grep -qF "$1"; then
        echo "$3 in $2: no '$1' in: $out"; fail=1
    fi
    rm "$work/$2"
}
breaks "must not include option/" base/a.c '#include "option/option.h"'
breaks "siblings" option/a.c '#include "device/device.h"'
breaks "no layer" cli/a.c '#  include "elsewhere/a.h"'
breaks "with its folder" option/a.c '#include "option.h"'
breaks "does not exist" cli/a.c '#include "base/none.h"'
breaks "under */cuda/" device/a.c '#include <cuda_runtime.h>'
breaks "under */mpi/" comm/a.c '#include <mpi.h>'

printf '#include <stdio.h>\n#include "kernel/tables.h"\n#include "op/op.h"\n#include "base/str.h"\n' >"$work/kernel/cpu/a.c"
printf '#include <cuda_runtime.h>\n#include "device/device.h"\n' >"$work/device/cuda/a.c"
"$SOURCE_DIR/tools/layers" "$work" || { echo "refused what is allowed"; fail=1; }
exit $fail
