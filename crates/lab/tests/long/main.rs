//! What measures for long: `make test-all` runs it, `make test` does not compile it.

mod agreement;
mod laws;
