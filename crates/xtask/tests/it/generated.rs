//! The generated files agree with the code, the controllers' files and the kept results.

use std::process::Command;

#[test]
fn every_generated_file_is_up_to_date() {
    let check = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["generate", "--check"]).output();
    let check = check.expect("xtask starts");
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}
