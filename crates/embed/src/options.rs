//! The options for opening a simulation.

use tresse_experiment::{Diagnostic, Profile, did_you_mean};

/// How an experiment becomes a simulation.
#[derive(Debug, Clone)]
pub struct Options {
    /// The selected cases of the experiment: `KEY=VALUE`, as for `tresse run --only`. One scheme must be
    /// left.
    pub only: Vec<String>,
    /// Changed keys: `PATH=VALUE`, as for `tresse run --set`.
    pub set: Vec<String>,
    /// The experiment as in its file, or as reduced by `[profile.quick]`. Default: as in its file.
    pub profile: Profile,
    /// The seed of all random choices. Default: 1.
    pub seed: u64,
    /// Threads among which the network may be divided; the results are the same. Default: 1.
    pub threads: usize,
    /// Messages from one host to another share a persistent connection, with its window and its paths.
    /// Otherwise each message has a separate connection.
    pub persistent: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            set: Vec::new(),
            profile: Profile::Full,
            seed: 1,
            threads: 1,
            persistent: false,
        }
    }
}

const NAMES: [&str; 7] =
    ["--only", "--set", "--fidelity", "--profile", "--seed", "--threads", "--persistent"];

impl Options {
    /// From arguments like those of `tresse run`: `--only`, `--set`, `--fidelity`, `--profile`, `--seed`, `--threads`,
    /// each followed by its value; and `--persistent`.
    ///
    /// # Errors
    /// The first wrong argument.
    pub fn parse<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<Self, Diagnostic> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(name) = arguments.next() {
            if name == "--persistent" {
                options.persistent = true;
                continue;
            }
            if !NAMES.contains(&name) {
                let hint = did_you_mean(name, NAMES);
                let message = format!("there is no option `{name}`{hint} (available: {})", NAMES.join(", "));
                return Err(Diagnostic::input(message));
            }
            let wrong = |message: &str| Diagnostic::input(message.to_owned()).of(name);
            let value = arguments.next().ok_or_else(|| wrong("a value must follow"))?;
            let number =
                || value.parse::<u64>().map_err(|_| wrong(&format!("`{value}` is not a whole number")));
            match name {
                "--only" => options.only.push(value.to_owned()),
                "--set" => options.set.push(value.to_owned()),
                // A key of the file, whose schema checks the value.
                "--fidelity" => options.set.push(format!("fidelity={value}")),
                "--seed" => options.seed = number()?,
                "--threads" => options.threads = number()? as usize,
                _ => {
                    options.profile = [Profile::Quick, Profile::Full]
                        .into_iter()
                        .find(|profile| profile.name() == value)
                        .ok_or_else(|| wrong(&format!("`{value}`: expected quick or full")))?;
                }
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, Profile};

    fn said(arguments: &[&str]) -> String {
        Options::parse(arguments.iter().copied()).expect_err("wrong arguments").to_string()
    }

    #[test]
    fn options_are_those_of_the_command() {
        let text = [
            "--only",
            "scheme=xmp",
            "--persistent",
            "--seed",
            "7",
            "--set",
            "fabric.k=4",
            "--fidelity",
            "rounds",
            "--profile",
            "quick",
        ];
        let options = Options::parse(text).expect("arguments of the command");
        assert_eq!(options.only, ["scheme=xmp"]);
        assert_eq!(options.set, ["fabric.k=4", "fidelity=rounds"]);
        assert_eq!((options.seed, options.threads), (7, 1));
        assert_eq!(options.profile, Profile::Quick);
        assert!(options.persistent);
    }

    #[test]
    fn wrong_options_are_named() {
        assert!(said(&["--onl"]).contains("did you mean `--only`"), "{}", said(&["--onl"]));
        assert!(said(&["--seed"]).contains("a value must follow"));
        assert!(said(&["--seed", "x"]).contains("`x` is not a whole number"));
        assert!(said(&["--profile", "fast"]).contains("quick or full"));
    }
}
