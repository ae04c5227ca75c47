# docs/options.md and docs/errors.md are what the program's tables say.
exec "$SOURCE_DIR/tools/gen-docs" --check
