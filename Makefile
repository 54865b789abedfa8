# SPDX-License-Identifier: MIT
# For those who have make; the build itself is CMake's (CMakePresets.json).
PREFIX ?= /usr/local
JOBS ?= 2

.PHONY: all demo check check-all check-debian13 check-experimental bench fuzz install package clean help

all: ## build what is shipped into build/
	@sh -c '. tools/setup.sh; need build rocm; build_preset release'

demo: ## trace an example on the virtual GPU
	@./demo

check: ## run the unit tests and those that show each promise
	@./check

check-all: ## run every test
	@./check --all

check-debian13: ## run the tests on Debian 13's runtimes, which are fetched
	@./check --debian13

check-experimental: ## run them on the runtimes of Debian's experimental suite, ROCm 7.2
	@./check --experimental

bench: ## measure the overhead against its floor, on the runtimes of other suites too where they are
	@sh -c '. tools/setup.sh; need build rocm; build_preset release -DRTL_TESTS=ON -DVGPU_TESTS=ON'
	@sh bench/run
	@for suite in debian13 experimental; do \
		echo; if on=$$(tools/userland.sh $$suite runtimes); then echo "on $$on:"; \
		tools/userland.sh $$suite run sh bench/run --json build/bench/$$suite.json dispatch launch api sdk; \
		else echo "not measured on other runtimes: $$on"; fi; done

fuzz: ## run the fuzzers, FUZZ_SECONDS each
	@./check --fuzz

install: all ## install below PREFIX (DESTDIR is respected)
	@cmake --install build --prefix "$(PREFIX)"

package: ## make the .deb packages and the relocatable archive, in build/package/
	@sh -c '. tools/setup.sh; need build rocm; build_preset release'
	@cd build && cpack >package.log || { cat package.log; exit 1; }
	@ls -l build/package/*.deb build/package/*.tar.gz

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1	/p' Makefile
