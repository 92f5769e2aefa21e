//! The record of what is proved of the built-in controllers.

use std::path::Path;

use tresse_workbench::controller::prove::{RECORD, entry, prove};

/// `TRESSE_UPDATE_DOCS=1` writes it.
#[test]
fn the_record_of_proofs_is_up_to_date() {
    if std::process::Command::new("frama-c").arg("-version").output().is_err() {
        eprintln!("skipped: frama-c is not installed: apt-get install --no-install-recommends frama-c-base");
        return;
    }
    let controllers = tresse_controllers::built_in();
    let own = controllers.iter().filter(|c| c.alias_of().is_none());
    let lines: Vec<_> = own.map(|c| entry(&prove(c.name()).unwrap_or_else(|e| panic!("{e}")))).collect();
    if std::env::var_os("TRESSE_UPDATE_DOCS").is_some() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../workbench/src/controller/prove/recorded.txt");
        std::fs::write(file, lines.concat()).expect("written");
        return;
    }
    assert_eq!(RECORD, lines.concat());
}
