# Two commands do everything on a fresh Debian 12 machine: `make run` and `make test`.
.PHONY: run test build check reproduction validate help

## build, then XMP's Table 1 (column Permutation), ours beside the published numbers
run: build
	target/release/tresse run xmp/table1 --only pattern=permutation

## everything that is tested, formatting and lints included
test: check
	cargo test --workspace --locked
	cargo test --package tresse-sim --test determinism --test scenarios --profile optimised --locked

## the command, as target/release/tresse
build:
	scripts/setup build
	cargo build --release --locked

## every experiment of the five papers, and docs/reproduction.md; PROFILE=full for the papers' own sizes
reproduction:
	scripts/setup build
	scripts/reproduction $(or $(PROFILE),quick) $(PAPERS)

## the same networks in ns-3, beside ours: docs/validation.md (needs python3.11 with venv)
validate: build
	validation/run

# Formatting and lints, where the tools are there (rustup has them; Debian's rustc-web does not).
check:
	scripts/setup test
	@if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; \
	else echo "skipped: cargo fmt is not installed"; fi
	@if cargo clippy --version >/dev/null 2>&1; then \
		cargo clippy --workspace --all-targets --locked -- --deny warnings; \
	else echo "skipped: cargo clippy is not installed"; fi
	@if python3 -m pytest --version >/dev/null 2>&1; then \
		python3 -B -m pytest --quiet -p no:cacheprovider validation; \
	else echo "skipped: pytest is not installed"; fi

help:
	@grep -A 1 '^##' Makefile | grep -v '^--'
