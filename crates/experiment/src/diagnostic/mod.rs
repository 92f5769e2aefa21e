//! What can go wrong, said with what, where, and the mend (design rule 8).

pub mod place;

use std::path::PathBuf;

/// Why an experiment could not be read or run.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The input is wrong: a file, a value, a setting.
    #[error("{0}")]
    Input(String),
    /// A file or folder could not be read or written.
    #[error("{}: {action}: {error}{}", path.display(), hint(action, error))]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

fn hint(action: &str, error: &std::io::Error) -> &'static str {
    if action == "cannot be read" {
        return "";
    }
    match error.kind() {
        std::io::ErrorKind::StorageFull => {
            "\n\nhint: free some space, or choose another folder with `--out DIR`"
        }
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "\n\nhint: choose a folder that you may write to with `--out DIR`"
        }
        _ => "",
    }
}

/// The known name that is nearest to `name`, as a question, or nothing.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .filter(|&(distance, k)| distance <= 1 + k.len() / 4)
        .min()
        .map_or_else(String::new, |(_, k)| format!("; did you mean `{k}`?"))
}

/// The keys down to what is wrong, and what is.
pub type Wrong = (Vec<String>, String);

/// What is wrong with a key of `[fabric]`.
pub fn wrong(key: &str, message: impl Into<String>) -> Wrong {
    (vec!["fabric".to_owned(), key.to_owned()], message.into())
}
