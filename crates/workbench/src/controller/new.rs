//! A controller to start from.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use tresse_controllers as controllers;

use crate::failure::Failure;

/// A working controller, with a comment at each place that its author will change.
const TEMPLATE: &str = include_str!("template.c");

/// The controller's name in the template.
const PLACEHOLDER: &str = "NAME";

/// The longest name: the kernel calls it `tr_NAME`, and allows 15 characters.
const LONGEST: usize = 12;

/// Writes `NAME.c` into a folder: a working controller. Returns its path.
///
/// # Errors
/// If the name cannot be used or is taken, or if there is such a file.
pub fn new(name: &str, dir: &Path) -> Result<PathBuf, Failure> {
    check_name(name).map_err(Failure::Input)?;
    let file = file_in(dir, name);
    write(&file, &TEMPLATE.replace(PLACEHOLDER, name)).map_err(Failure::Input)?;
    Ok(file)
}

/// Checks that C and the experiment files can use `name` for a `what`.
pub(crate) fn check_letters(name: &str, what: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(allowed) {
        return Err(format!(
            "`{name}` cannot name a {what}: start with a lower-case letter, then use lower-case letters, \
             digits and `_`"
        ));
    }
    Ok(())
}

/// Checks that C, the experiment files and the kernel can all use `name`, and that it is not taken yet.
fn check_name(name: &str) -> Result<(), String> {
    check_letters(name, "controller")?;
    if name.len() > LONGEST {
        let n = name.len();
        return Err(format!(
            "`{name}` has {n} characters: the kernel allows 15, including `tr_`, so at most {LONGEST} are left"
        ));
    }
    if name == "tresse" {
        return Err("the kernel's programs have functions whose names begin with `tresse_`".to_owned());
    }
    if controllers::find(name).is_some() {
        return Err(format!("there is already a controller `{name}`; choose another name"));
    }
    Ok(())
}

/// The file of a new part; `./mine.c` is shown as `mine.c`.
pub(crate) fn file_in(dir: &Path, name: &str) -> PathBuf {
    let dir = if dir == Path::new(".") { Path::new("") } else { dir };
    dir.join(format!("{name}.c"))
}

/// Writes a file that does not exist yet.
///
/// # Errors
/// If it exists, or cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    let shown = path.display();
    let mut file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            format!(
                "{shown} already exists and was left unchanged\n\nhint: choose another name, or `--dir DIR`"
            )
        }
        _ => {
            format!("{shown}: cannot be written: {error}\n\nhint: choose an existing folder with `--dir DIR`")
        }
    })?;
    file.write_all(text.as_bytes()).map_err(|error| {
        // Half a file would be in the way of the next try.
        let _ = fs::remove_file(path);
        format!("{shown}: cannot be written: {error}")
    })
}
