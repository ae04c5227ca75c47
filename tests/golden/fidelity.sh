# docs/fidelity.md names every family, its number of variants and its lines.
set -eu
cd "$SOURCE_DIR"
tools/fidelity --check
