# tools/install-deps.sh without root: quick and silent when nothing is missing, else the exact command.
set -u
command -v dpkg-query >/dev/null || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0
mkdir "$work/bin"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/sudo"
printf '#!/bin/sh\necho apt was called\nexit 1\n' >"$work/bin/apt-get"
chmod +x "$work"/bin/*
cp "$SOURCE_DIR/tools/install-deps.sh" "$work"

printf '# a comment\ncoreutils\n' >"$work/packages.txt"
out=$(PATH=$work/bin:$PATH sh "$work/install-deps.sh" 2>&1) && [ -z "$out" ] || { echo "nothing missing, but: $out"; fail=1; }
printf 'coreutils\nhone-no-such-package\n' >"$work/packages.txt"
out=$(PATH=$work/bin:$PATH sh "$work/install-deps.sh" 2>&1) && { echo "a missing package was not noticed"; fail=1; }
echo "$out" | grep -q 'sudo apt-get install --no-install-recommends hone-no-such-package$' || { echo "no command in: $out"; fail=1; }
echo "$out" | grep -q 'apt was called' && { echo "apt-get was called without root"; fail=1; }
exit $fail
