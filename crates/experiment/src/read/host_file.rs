//! The file that `fabric.host_cpu` names: what `tresse calibrate` has measured.

use serde::Deserialize;

use crate::diagnostic::Diagnostic;
use crate::read::files::{beside, unreadable};
use crate::read::loaded::Loaded;
use crate::schema::host_cpu::{Costs, HostCpu};

/// What is read of the file; the rest is for people.
#[derive(Deserialize)]
struct HostFile {
    host_cpu: Costs,
}

/// Puts the costs in the file that `[fabric]` names, if it names one, in the name's place.
///
/// # Errors
/// What is wrong with the file.
pub(crate) fn read(loaded: &mut Loaded) -> Result<(), Diagnostic> {
    let Some(HostCpu::File(file)) = &loaded.experiment.fabric.host_cpu else { return Ok(()) };
    let path = beside(&loaded.source.name, file);
    let at = |message: &str| loaded.error_at(&["fabric", "host_cpu"], message);
    let text = loaded.files.read(&path).map_err(|e| at(&unreadable(&path, &e)))?;
    let host: HostFile = toml::from_str(&text).map_err(|e| at(&format!("{}: {e}", path.display())))?;
    loaded.experiment.fabric.host_cpu = Some(HostCpu::Costs(host.host_cpu));
    Ok(())
}
