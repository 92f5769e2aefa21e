//! The selection of cases by their values on axes, used for cases, results and flows alike.

/// Wanted values on axes such as scheme, subflows, pattern and variant; axes that are not named may have any value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted(Vec<(String, Vec<String>)>);

impl Wanted {
    /// Reads `KEY=VALUE[,VALUE]…`; `None` if `text` has another form.
    pub fn parse(text: &str) -> Option<Self> {
        let (axis, values) = text.split_once('=')?;
        let values = values.split(',').map(|value| value.trim().to_owned()).collect();
        Some(Self(vec![(axis.to_owned(), values)]))
    }

    /// With `value` on `axis`, if there is one.
    #[must_use]
    pub fn on(mut self, axis: &str, value: Option<&impl ToString>) -> Self {
        self.0.extend(value.map(|value| (axis.to_owned(), vec![value.to_string()])));
        self
    }

    /// With the values that `other` wants too.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The axes that it names, each with the wanted values.
    pub fn axes(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(axis, values)| (&**axis, &**values))
    }

    /// What it wants on the axes that `is_there` accepts; on others any value is wanted.
    #[must_use]
    pub fn within(&self, is_there: impl Fn(&str) -> bool) -> Self {
        Self(self.0.iter().filter(|(axis, _)| is_there(axis)).cloned().collect())
    }

    /// What is wrong if a value is an option of its own, as in `scheme=xmp,pattern=random`.
    pub fn joined(&self) -> Option<String> {
        self.axes().find_map(|(axis, values)| {
            let other = values.iter().skip(1).position(|value| value.contains('='))?;
            let (own, others) = values.split_at(other + 1);
            Some(format!(
                "`{}` is not a value of {axis}; each axis needs its own option: `--only {axis}={} --only {}`",
                others[0],
                own.join(","),
                others.join(",")
            ))
        })
    }

    /// Whether it names values on this axis.
    pub fn names(&self, axis: &str) -> bool {
        self.axes().any(|(own, _)| own == axis)
    }

    /// Whether it matches something whose value on each axis is `value`, `None` if there is none.
    pub fn matches<V: AsRef<str>>(&self, value: impl Fn(&str) -> Option<V>) -> bool {
        self.axes().all(|(axis, values)| {
            value(axis).is_some_and(|own| values.iter().any(|value| value == own.as_ref()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_values_on_every_axis_that_is_named() {
        let wanted = Wanted::parse("scheme=xmp, lia").expect("the form").on("subflows", Some(&2));
        let has = |scheme, subflows| {
            wanted.matches(|axis| match axis {
                "scheme" => Some(scheme),
                "subflows" => subflows,
                _ => None,
            })
        };
        assert!(has("xmp", Some("2")) && has("lia", Some("2")));
        assert!(!has("olia", Some("2")) && !has("xmp", Some("4")) && !has("xmp", None));
        assert!(wanted.names("scheme") && !wanted.names("pattern"));
        assert!(Wanted::default().matches(|_| None::<&str>), "nothing is named");
        let schemes = wanted.within(|axis| axis == "scheme");
        assert_eq!(Some(schemes), Wanted::parse("scheme=xmp, lia"));
        assert_eq!(Wanted::parse("scheme"), None);
    }
}
