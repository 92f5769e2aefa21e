//! An error in a value, before it is known which file the value is in.

use crate::diagnostic::plain::plain;

/// What is wrong, and where, relative to what was read; the code that knows the file makes a
/// [`Diagnostic`](crate::diagnostic::Diagnostic) from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Where.
    pub at: Location,
    /// What is wrong, and how to fix it.
    pub message: String,
}

/// Where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Below these keys, the outermost first; a number is an index in a list.
    Keys(Vec<String>),
    /// This many bytes from the start of the text; `None` if that is not known.
    Offset(Option<usize>),
}

impl Wrong {
    /// Below `keys`, the outermost first.
    pub fn new<K: ToString>(keys: impl IntoIterator<Item = K>, message: impl Into<String>) -> Self {
        let keys = keys.into_iter().map(|key| key.to_string()).collect();
        Self { at: Location::Keys(keys), message: message.into() }
    }

    /// At `key`.
    pub fn key(key: &str, message: impl Into<String>) -> Self {
        Self::new([key], message)
    }

    /// In the value as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self::new([""; 0], message)
    }

    /// This many bytes from the start of the text.
    pub fn offset(offset: usize, message: impl Into<String>) -> Self {
        Self { at: Location::Offset(Some(offset)), message: message.into() }
    }

    /// The keys down to it; empty if it is an offset in the text.
    pub fn keys(&self) -> &[String] {
        match &self.at {
            Location::Keys(keys) => keys,
            Location::Offset(_) => &[],
        }
    }

    /// The same, relative to the enclosing table or list, in which the value is at `key`.
    #[must_use]
    pub fn below(mut self, key: impl ToString) -> Self {
        if let Location::Keys(keys) = &mut self.at {
            keys.insert(0, key.to_string());
        }
        self
    }

    /// The same, relative to the root, from which these keys lead to it.
    #[must_use]
    pub fn below_all<K: ToString>(
        self,
        keys: impl IntoIterator<Item = K, IntoIter: DoubleEndedIterator>,
    ) -> Self {
        keys.into_iter().rev().fold(self, Wrong::below)
    }
}

impl From<toml::de::Error> for Wrong {
    fn from(error: toml::de::Error) -> Self {
        Self { at: Location::Offset(error.span().map(|span| span.start)), message: plain(error.message()) }
    }
}

/// An error in a key of `[fabric]`.
pub fn wrong(key: &str, message: impl Into<String>) -> Wrong {
    Wrong::new(["fabric", key], message)
}
