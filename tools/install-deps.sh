#!/bin/sh
# Installs what tools/packages.txt lists and this machine lacks. Silent and quick when nothing is missing.
set -eu
list=$(dirname "$0")/packages.txt
packages=$(grep -v '^#' "$list")

if ! command -v dpkg-query >/dev/null 2>&1; then
    # Not a Debian: look for what the packages bring.
    missing=
    for tool in gcc clang cmake ninja pkg-config; do
        command -v $tool >/dev/null 2>&1 || missing="$missing $tool"
    done
    for lib in jansson yajl yaml-0.1 libpcre2-8 libutf8proc libxxhash zlib libzstd cairo cmocka; do
        pkg-config --exists $lib 2>/dev/null || missing="$missing $lib"
    done
    [ -z "$missing" ] && exit 0
    echo "hone needs these tools and libraries (pkg-config names), which this system lacks:$missing" >&2
    echo "Install them with the system's package manager, then run make again. On Debian: see tools/packages.txt." >&2
    exit 1
fi

missing=
for package in $packages; do
    # shellcheck disable=SC2016
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "hone needs packages that are missing here, and installing them takes root. Run:" >&2
    echo "    sudo apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
echo "installing:$missing"
$as_root apt-get -qq update || echo "apt-get update failed; trying with the lists that are there" >&2
# shellcheck disable=SC2086
if ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null; then
    echo "apt-get could not install:$missing" >&2
    exit 1
fi
