# Thin: CMake does the work (CMakePresets.json has the presets release, debug and sanitize).
PREFIX ?= /usr/local

.PHONY: all deps check demo docs install uninstall clean
all: deps                       # build/hone
	@cmake --preset release >/dev/null
	@cmake --build build --target hone_cli

deps:                           # what a fresh Debian 12 lacks
	@tools/install-deps.sh

check: deps                     # all tests, then all but the long ones under the sanitizers
	@tools/check

demo: all                       # trains a small model and talks to it before and after
	@tools/demo.sh

docs: all                       # docs/options.md and docs/errors.md
	@tools/gen-docs

install: all                    # PREFIX, DESTDIR
	@cmake --install build --prefix "$(PREFIX)"

uninstall:                      # what the last install wrote
	@test -f build/install_manifest.txt || { echo "build/install_manifest.txt is missing: nothing was installed from here"; exit 1; }
	@while read -r file || [ -n "$$file" ]; do rm -fv "$(DESTDIR)$$file"; done <build/install_manifest.txt

clean:
	@rm -rf build build-debug build-sanitize demo-out
