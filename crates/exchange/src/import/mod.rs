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
mod imported;
mod packets;
pub mod summary;
mod triggers;
mod words;

use std::path::Path;

use tresse_experiment::diagnostic::Diagnostic;

pub use imported::Imported;
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
