//! The parameters that a part of an experiment, such as a path manager, declares, and values for them.

/// A parameter of a part; one of a controller always has a [`Whole`] range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter<R = Range> {
    /// Its name in files and on the command line.
    pub name: &'static str,
    /// Its allowed values and its default.
    pub range: R,
    /// The unit of a number; empty for a pure one.
    pub unit: &'static str,
    /// What it does, in one sentence.
    pub meaning: &'static str,
}

/// A whole number in `min..=max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole {
    /// The default.
    pub default: u64,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
}

impl Whole {
    /// Whether a parameter with this range can have this value.
    pub fn contains(&self, value: u64) -> bool {
        (self.min..=self.max).contains(&value)
    }
}

/// The allowed values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// A whole number.
    Whole(Whole),
    /// One of these words; the first is the default.
    Choice(&'static [&'static str]),
    /// At most `longest` whole numbers in `min..=max`; by default none.
    List {
        /// The most numbers.
        longest: usize,
        /// The smallest value.
        min: u64,
        /// The largest value.
        max: u64,
    },
}

/// A value for a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// For [`Range::Whole`].
    Whole(u64),
    /// For [`Range::Choice`].
    Choice(String),
    /// For [`Range::List`].
    List(Vec<u64>),
}

/// Why a value for a parameter was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The part has no such parameter.
    #[error("{owner} has no parameter `{name}` (it has: {known})")]
    Unknown {
        /// Whose parameter.
        owner: &'static str,
        /// The requested name.
        name: String,
        /// The existing parameters.
        known: String,
    },
    /// The parameter cannot have this value.
    #[error("{name} = {value} is not {expected} ({owner})")]
    Value {
        /// Whose parameter.
        owner: &'static str,
        /// The parameter.
        name: &'static str,
        /// The requested value.
        value: String,
        /// The allowed values.
        expected: String,
    },
}

impl Range {
    /// The default.
    pub fn default(&self) -> Value {
        match *self {
            Self::Whole(whole) => Value::Whole(whole.default),
            Self::Choice(words) => Value::Choice(words[0].to_owned()),
            Self::List { .. } => Value::List(Vec::new()),
        }
    }

    /// Whether a parameter with this range can have this value.
    pub fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Whole(whole), Value::Whole(value)) => whole.contains(*value),
            (Self::Choice(words), Value::Choice(word)) => words.contains(&word.as_str()),
            (Self::List { longest, min, max }, Value::List(values)) => {
                values.len() <= *longest && values.iter().all(|value| (min..=max).contains(&value))
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Range {
    /// The allowed values in words: `a whole number from 1 to 64`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(Whole { min, max, .. }) => write!(f, "a whole number from {min} to {max}"),
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Self::List { longest, min, max } => {
                write!(f, "a list of at most {longest} whole numbers from {min} to {max}")
            }
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(value) => write!(f, "{value}"),
            Self::Choice(word) => f.write_str(word),
            Self::List(values) => write!(f, "{values:?}"),
        }
    }
}

/// A value for each parameter of a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// The defaults of `owner`'s parameters, overridden by `settings`.
    ///
    /// # Errors
    /// A parameter that is not declared, or a value that the parameter cannot have.
    pub fn new<'a>(
        owner: &'static str,
        declared: &'static [Parameter],
        settings: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Result<Self, ParameterError> {
        let mut values: Vec<_> = declared.iter().map(|p| (p.name, p.range.default())).collect();
        for (name, value) in settings {
            let Some(i) = declared.iter().position(|p| p.name == name) else {
                let known: Vec<_> = declared.iter().map(|p| p.name).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(ParameterError::Unknown { owner, name: name.to_owned(), known });
            };
            let p = &declared[i];
            if !p.range.contains(&value) {
                return Err(ParameterError::Value {
                    owner,
                    name: p.name,
                    value: value.to_string(),
                    expected: p.range.to_string(),
                });
            }
            values[i].1 = value;
        }
        Ok(Self(values))
    }

    /// The value of a [`Range::Whole`].
    ///
    /// # Panics
    /// If no such parameter is declared.
    pub fn whole(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Whole(value) => *value,
            _ => panic!("{name} is declared as no number"),
        }
    }

    /// The value of a [`Range::Choice`].
    ///
    /// # Panics
    /// If no such parameter is declared.
    pub fn choice(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Choice(word) => word,
            _ => panic!("{name} is declared as no choice"),
        }
    }

    /// The value of a [`Range::List`].
    ///
    /// # Panics
    /// If no such parameter is declared.
    pub fn list(&self, name: &str) -> &[u64] {
        match self.get(name) {
            Value::List(values) => values,
            _ => panic!("{name} is declared as no list"),
        }
    }

    fn get(&self, name: &str) -> &Value {
        let found = self.0.iter().find(|(declared, _)| *declared == name);
        &found.unwrap_or_else(|| panic!("{name} is not declared")).1
    }
}
