/// The names that a controller's source declares with `CONTROLLER(name, …)` at the start of a line.
pub(crate) fn declared_controllers(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("CONTROLLER("))
        .filter_map(|rest| rest.split([',', ')']).next())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect()
}
