//! What takes minutes: `make test-all` runs it, `make test` does not compile it.

#[path = "../it/attached.rs"]
mod attached;
#[path = "../it/common.rs"]
#[expect(dead_code, reason = "what the other tests share, of which these need a part")]
mod common;
mod guide;
mod papers;
#[path = "../it/planted.rs"]
mod planted;
mod proofs;
mod report_card;
mod search;
mod tutorial;
