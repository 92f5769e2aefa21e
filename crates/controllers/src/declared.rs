/// The names that a C file declares with `KIND(name, …)` at the start of a line; `kind` is `CONTROLLER`, `ALIAS` and so
/// on.
pub fn declared(kind: &str, text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix(kind)?.strip_prefix('('))
        .filter_map(|rest| rest.split([',', ')']).next())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect()
}
