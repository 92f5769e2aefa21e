# Two commands do everything on a fresh Debian 12 machine: `make run` and `make test`.

# rust-toolchain.toml pins the compiler for rustup; if it is not installed and cannot be obtained, the default
# one is used.
ifneq ($(shell command -v rustup),)
ifeq ($(shell rustc --version 2>/dev/null),)
export RUSTUP_TOOLCHAIN := $(firstword $(shell rustup default))
endif
endif

.PHONY: run test test-all build wheel deb release check site reproduction testbed twin validate help

## build, then XMP's Table 1 (column Permutation, two rounds), ours beside the published numbers
run:
	scripts/run

## everything that a change needs: formatting, lints, every test; a quarter of an hour on two cores, from nothing
test:
	scripts/test

## every test at full length, the tutorial, tables that are measured, QUIC, the least Rust: an hour
test-all:
	scripts/test all

## the command, as target/release/tresse
build:
	scripts/setup build
	cargo build --release --locked --package tresse

## the Python package with the command in it, as target/wheels/tresse-*.whl
wheel:
	scripts/setup wheel
	scripts/wheel

## every experiment of the five papers, and docs/reproduction.md; PROFILE=full for the papers' own sizes
reproduction:
	scripts/setup build
	scripts/reproduction $(or $(PROFILE),quick) $(PAPERS)

## the papers' testbeds on real Linux hosts, as root (hours); results in runs/testbed, kept in papers/results
testbed:
	scripts/setup build
	scripts/testbed

## simulated and real hosts side by side, as root: validation/twin/README.md (70 minutes)
twin:
	scripts/setup build
	scripts/twin

## the same networks in ns-3, beside ours: validation/README.md (needs python3.11 with venv)
validate: build
	validation/run

## the Debian package: command, manual pages, units, as target/debian/tresse_*.deb
deb:
	scripts/setup build
	scripts/deb

## the documentation, as target/site/index.html; it opens from disk
site:
	scripts/site

## all that a release consists of, in target/release-VERSION: CONTRIBUTING.md
release:
	scripts/setup wheel
	scripts/release

# Formatting, lints, documentation, licences.
check:
	scripts/setup test
	scripts/check

help:
	@grep -A 1 '^##' Makefile | grep -v '^--'
