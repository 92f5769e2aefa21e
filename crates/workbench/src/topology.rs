//! An experiment's network, without a run.

use tresse_exchange::export::graph::graph_text;
use tresse_experiment::Loaded;
use tresse_lab::TopologyReport;

use crate::cases::Experiment;
use crate::failure::Failure;

pub use tresse_exchange::export::graph::GraphFormat;

/// A network of an experiment.
#[derive(Debug)]
pub struct Network {
    whole: Loaded,
    variant: Option<String>,
}

impl Network {
    /// The network of this variant, or of the file without a variant; `tell` gets the messages about the experiment.
    ///
    /// # Errors
    /// An error in the experiment, or if there is no such variant.
    pub fn load(
        experiment: &Experiment,
        variant: Option<String>,
        tell: &mut dyn FnMut(String),
    ) -> Result<Self, Failure> {
        let whole = experiment.load(tell)?;
        whole.files.notes().iter().for_each(|note| tell(format!("note: {note}")));
        let own = Self { whole, variant };
        for axis in &own.loaded()?.axes {
            let (path, first) = (axis.path(), &axis.values[0]);
            tell(format!("{path} has several values: this is the network with the first one, {first}"));
        }
        Ok(own)
    }

    fn loaded(&self) -> Result<&Loaded, Failure> {
        Ok(match &self.variant {
            Some(name) => self.whole.variant(name)?,
            None => &self.whole,
        })
    }

    /// Its layers, tiers, bisection bandwidth and base RTTs; with the names or numbers of two hosts also the shortest
    /// paths from the first to the second.
    ///
    /// # Errors
    /// If there is no such host.
    pub fn report(&self, pair: Option<[&str; 2]>) -> Result<TopologyReport, Failure> {
        Ok(tresse_lab::topology(self.loaded()?, pair)?)
    }

    /// The network as a graph.
    ///
    /// # Errors
    /// If the format cannot have it.
    pub fn graph(&self, format: GraphFormat) -> Result<String, Failure> {
        Ok(graph_text(self.loaded()?, format)?)
    }
}
