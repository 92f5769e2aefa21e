//! Writes the list of the challenges in `suites/challenge/`, each with its files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts through the environment")]
fn out_dir() -> PathBuf {
    PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"))
}

fn main() {
    let dir = Path::new("../../suites/challenge").canonicalize().expect("suites/ lies beside crates/");
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut folders: Vec<PathBuf> = fs::read_dir(&dir)
        .expect("suites/challenge can be read")
        .map(|entry| entry.expect("suites/challenge can be read").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    let mut list = String::from("static FOLDERS: &[Folder] = &[\n");
    for folder in folders {
        let [record, on_hosts, why] =
            ["challenge.json", "on-hosts.json", "why.toml"].map(|own| folder.join(own));
        let on_hosts = match on_hosts.exists() {
            true => format!("Some(include_str!({on_hosts:?}))"),
            false => "None".to_owned(),
        };
        writeln!(
            list,
            "    Folder {{ record: include_str!({record:?}), on_hosts: {on_hosts}, why: include_str!({why:?}) }},"
        )
        .expect("writing to a string");
    }
    list.push_str("];\n");
    fs::write(out_dir().join("challenges.rs"), list).expect("OUT_DIR can be written");
}
