//! Other simulators' files as an experiment: `tresse import`.
//!
//! `tresse explain import` describes how each format is translated. Nothing is guessed silently: values that
//! a format does not have are marked in the written file, and a note reports whatever cannot be kept.

mod cdf;
mod draft;
mod graph;
mod hpcc;
mod htsim_cm;
mod htsim_topo;
pub mod summary;
mod triggers;
mod words;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tresse_experiment::diagnostic::Diagnostic;
use tresse_units::output_file::{OutputFile, replaces};

use summary::Summary;
pub use words::Input;

/// A format of another simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A topology of htsim (`.topo`).
    HtsimTopo,
    /// A connection matrix of htsim (`.cm`, `.tm`), with or without its topology.
    HtsimCm,
    /// A topology of the HPCC simulator, with or without flows.
    Hpcc,
    /// A flow-size distribution of the HPCC simulator's generator.
    HpccCdf,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::HtsimTopo, Self::HtsimCm, Self::Hpcc, Self::HpccCdf];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::HtsimTopo => "htsim-topo",
            Self::HtsimCm => "htsim-cm",
            Self::Hpcc => "hpcc",
            Self::HpccCdf => "hpcc-cdf",
        }
    }

    /// The files that it takes, in this order.
    pub fn files(self) -> &'static str {
        match self {
            Self::HtsimTopo => "FILE.topo",
            Self::HtsimCm => "FILE.cm [FILE.topo]",
            Self::Hpcc => "topology.txt [flow.txt]",
            Self::HpccCdf => "DISTRIBUTION.txt",
        }
    }
}

/// The output of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The experiment, and the files next to it that it names.
    pub files: Vec<(PathBuf, String)>,
    /// What was left out, or read differently from how it is written, in one sentence each.
    pub notes: Vec<String>,
    /// What the files have, in numbers.
    pub summary: Summary,
}

/// Reads files of `format`, for an experiment at `out`. Writes nothing.
///
/// # Errors
/// The first error, with its position: files that are not in this format, end early, or contradict themselves
/// or each other.
pub fn import(format: Format, inputs: &[Input], out: &Path) -> Result<Imported, Diagnostic> {
    let draft = match (format, inputs) {
        (Format::HtsimTopo, [topo]) => htsim_topo::draft(topo)?,
        (Format::HtsimCm, [cm]) => htsim_cm::draft(cm, None)?,
        (Format::HtsimCm, [cm, topo]) => htsim_cm::draft(cm, Some(topo))?,
        (Format::Hpcc, [topology]) => hpcc::draft(topology, None)?,
        (Format::Hpcc, [topology, flows]) => hpcc::draft(topology, Some(flows))?,
        (Format::HpccCdf, [cdf]) => cdf::draft(cdf)?,
        _ => {
            let (name, files, n) = (format.name(), format.files(), inputs.len());
            return Err(Diagnostic::input(format!("{name} takes {files}, not {n} files")));
        }
    };
    Ok(draft.files(inputs, out))
}

impl Imported {
    /// Writes the files, over existing ones only with `replace`. If one cannot be written, none is.
    ///
    /// # Errors
    /// If a file already exists, or cannot be written.
    pub fn write(&self, replace: bool) -> Result<(), Diagnostic> {
        if let Some((path, _)) = self.files.iter().find(|(path, _)| !replace && replaces(path)) {
            let message = format!("{} already exists and was left unchanged", path.display());
            return Err(Diagnostic::input(message).hint("choose another name, or replace it with `--force`"));
        }
        let is_special = |path: &Path| fs::metadata(path).is_ok_and(|own| !own.is_file() && !own.is_dir());
        if let [(path, _), _, ..] = &self.files[..]
            && is_special(path)
        {
            let message = "an import writes several files: name a file, such as x.toml";
            return Err(Diagnostic::input(message).of(path.display().to_string()));
        }
        let mut all = Vec::new();
        for (path, text) in &self.files {
            let file = OutputFile::create(path).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                Ok(file)
            });
            all.push(file.map_err(|error| Diagnostic::io("cannot be written", path, error))?);
        }
        let first = self.files.first().map_or(Path::new(""), |(path, _)| path);
        OutputFile::finish_all(all).map_err(|error| Diagnostic::io("cannot be written", first, error))
    }
}
