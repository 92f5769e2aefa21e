//! The folder of a twin: an experiment that was simulated and run on real hosts (`tresse twin`).

use std::path::{Path, PathBuf};

/// The file that identifies the folder of a twin.
pub const FILE: &str = "twin.json";
/// The folders of its two runs, the simulated one first.
pub const SIDES: [&str; 2] = ["simulated", "real"];

/// The folders of the two runs of a twin; `None` if `folder` is not that of a twin.
pub fn sides(folder: &Path) -> Option<[PathBuf; 2]> {
    folder.join(FILE).is_file().then(|| SIDES.map(|side| folder.join(side)))
}
