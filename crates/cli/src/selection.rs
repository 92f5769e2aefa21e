//! Which cases of which experiment a command is about.

use clap::ValueEnum;
use tresse_experiment::Profile;
use tresse_workbench::cases;

/// An experiment, and the changes to it.
#[derive(Debug, clap::Args)]
pub struct Experiment {
    /// A built-in name such as `xmp/table1` or `xmp/fig9`, a TOML file, or `-` for stdin
    experiment: String,
    /// The size of the experiment: `full` is the paper's own, `quick` has fewer flows, rounds or seconds
    #[arg(long, value_enum, default_value = "quick")]
    profile: ProfileArg,
    /// Set a value in the experiment, such as fabric.k=16 or transport.rto_min=10ms; a list such as
    /// 'fabric.mark=[10pkt,20pkt]' makes a case for each value (`tresse explain axes`). May be given more than once
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
}

/// Some of its cases.
#[derive(Debug, clap::Args)]
pub struct Chosen {
    #[command(flatten)]
    experiment: Experiment,
    /// Keep only the cases with these values on an axis: scheme, subflows, pattern, variant, or a key that has a
    /// list. May be given more than once
    #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
    only: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ProfileArg {
    Quick,
    Full,
}

impl ProfileArg {
    pub fn profile(self) -> Profile {
        match self {
            Self::Quick => Profile::Quick,
            Self::Full => Profile::Full,
        }
    }
}

impl Experiment {
    pub fn request(self) -> cases::Experiment {
        let Self { experiment: name, profile, set } = self;
        cases::Experiment { name, text: None, profile: profile.profile(), set }
    }
}

impl Chosen {
    pub fn cases(self) -> cases::Cases {
        cases::Cases { experiment: self.experiment.request(), only: self.only }
    }
}
