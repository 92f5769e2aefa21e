//! The declaration of a path manager.

use tresse_units::{Parameter, ParameterError, Values};

use crate::Config;

/// A path manager, as it appears in lists and experiment files.
#[derive(Debug)]
pub struct Declaration {
    /// Its name in files and on the command line.
    pub name: &'static str,
    /// One line on what it does.
    pub title: &'static str,
    /// Paper and section.
    pub source: &'static str,
    /// Its parameters, in the order in which they are shown.
    pub parameters: &'static [Parameter],
    pub(crate) configure: fn(&Values) -> Result<Config, SettingError>,
}

/// Why a path manager cannot have these settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// A parameter that it does not have, or a value that the parameter cannot have.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// `nstar = empirical` without a table.
    #[error(
        "nstar = empirical needs `table`: the numbers of subflows at the loss rates 0, 0.01, 0.02 and so on"
    )]
    NeedsTable,
}
