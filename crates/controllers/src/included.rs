//! The user's own headers that a controller's file includes.

use std::path::{Path, PathBuf};

use tresse_units::text_file::read_written;

/// The files next to `path` that it includes, and those that these include, with their texts: each once, in the
/// order in which they occur. Tresse's own headers and the system's are not among them.
pub fn included(path: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    if let Ok(text) = read_written(path) {
        follow(path, &text, DEPTH, &mut found);
    }
    found
}

/// How deep headers may include each other, as in compilers.
const DEPTH: usize = 200;

fn follow(path: &Path, text: &str, depth: usize, found: &mut Vec<(PathBuf, String)>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for name in text.lines().filter_map(quoted) {
        // `cc` looks for a quoted name beside the file first.
        let header = path.with_file_name(name);
        if found.iter().any(|(known, _)| *known == header) {
            continue;
        }
        if let Ok(text) = read_written(&header) {
            found.push((header.clone(), text.clone()));
            follow(&header, &text, depth, found);
        }
    }
}

/// The name in a line `#include "NAME"`.
fn quoted(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn headers_beside_the_file_are_found_once() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("written");
        write("mine.c", "#include \"controller.h\"\n#include <stdint.h>\n  # include \"cut.h\" // ours\n");
        write("cut.h", "#include \"share.h\"\n#include \"cut.h\"\n");
        write("share.h", "#define SHARE 2\n");
        let names: Vec<_> = included(&dir.path().join("mine.c"))
            .into_iter()
            .map(|(path, _)| path.file_name().expect("a name").to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["cut.h", "share.h"]);
    }
}
