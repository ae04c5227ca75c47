# docs/fidelity.md names every family and its number of variants.
set -eu
cd "$SOURCE_DIR"
tools/fidelity --check
