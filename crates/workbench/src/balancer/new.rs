//! A balancer to start from.

use std::path::{Path, PathBuf};

use tresse_balancers as balancers;

use crate::controller::new::{check_letters, file_in, write};
use crate::failure::Failure;

/// A working balancer, with a comment at each place that its author will change.
const TEMPLATE: &str = include_str!("template.c");

/// The balancer's name in the template.
const PLACEHOLDER: &str = "NAME";

/// The longest name; this keeps lists narrow.
const LONGEST: usize = 20;

/// Writes `NAME.c` into a folder: a working balancer. Returns its path.
///
/// # Errors
/// If the name cannot be used or is taken, or if there is such a file.
pub fn new(name: &str, dir: &Path) -> Result<PathBuf, Failure> {
    check_name(name).map_err(Failure::Input)?;
    let file = file_in(dir, name);
    write(&file, &TEMPLATE.replace(PLACEHOLDER, name)).map_err(Failure::Input)?;
    Ok(file)
}

/// Checks that C and the experiment files can use `name`, and that it is not taken yet.
fn check_name(name: &str) -> Result<(), String> {
    check_letters(name, "balancer")?;
    if name.len() > LONGEST {
        return Err(format!("`{name}` has {} characters: at most {LONGEST} are allowed", name.len()));
    }
    if balancers::find(name).is_some() {
        return Err(format!("there is already a balancer `{name}`; choose another name"));
    }
    Ok(())
}
