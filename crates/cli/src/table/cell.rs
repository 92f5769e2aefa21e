//! A cell of a table: what the screen shows, and the number behind it.

/// A cell of a table.
#[derive(Debug, Clone)]
pub struct Cell {
    /// What the screen shows.
    pub text: String,
    /// The same number in full, in the unit of its column; `None` if it is no number, or if that is not known.
    pub number: Option<f64>,
}

impl Cell {
    /// A number, with this many decimals on the screen.
    pub fn number(number: f64, decimals: usize) -> Self {
        Self { text: format!("{number:.decimals$}"), number: Some(number) }
    }

    /// A dash: there is no value.
    pub fn none() -> Self {
        Self::from("-".to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, number: None }
    }
}

/// A mean and half its interval, rounded to two digits of the interval; as they are shown if no more is known of them.
/// `None` if there is no interval.
pub fn rounded(mean: &Cell, half: &Cell) -> Option<[String; 2]> {
    if half.text.trim() == "-" {
        return None;
    }
    let Some((value, half)) = mean.number.zip(half.number) else {
        return Some([mean, half].map(|cell| cell.text.trim().to_owned()));
    };
    if half <= 0.0 {
        return None;
    }
    // Of 9.96 two digits are 10: the place follows from the rounded number.
    let place_of = |number: f64| 1 - number.log10().floor() as i32;
    let place = place_of(to_place(half, place_of(half)));
    let decimals = usize::try_from(place).unwrap_or(0);
    Some([value, half].map(|number| format!("{:.decimals$}", to_place(number, place))))
}

/// Rounded to so many decimals; to tens for -1.
fn to_place(number: f64, place: i32) -> f64 {
    let unit = 10f64.powi(-place);
    // No "-0.0".
    (number / unit).round() * unit + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(mean: f64, half: f64) -> Option<[String; 2]> {
        // The screen shows one decimal of both.
        rounded(&Cell::number(mean, 1), &Cell::number(half, 1))
    }

    #[test]
    fn a_mean_has_two_digits_of_its_interval() {
        let both = |mean: &str, half: &str| Some([mean.to_owned(), half.to_owned()]);
        assert_eq!(with(573.21, 14.3), both("573", "14"));
        // More than the screen shows, which is 573.2 and 0.0.
        assert_eq!(with(573.2149, 0.0123), both("573.215", "0.012"));
        assert_eq!(with(573.2149, 0.678), both("573.21", "0.68"));
        assert_eq!(with(1234.0, 187.0), both("1230", "190"));
        assert_eq!(with(12.0, 9.96), both("12", "10"));
        assert_eq!(with(-0.001, 0.5), both("0.00", "0.50"));
        assert_eq!(with(573.2, 0.0), None);
        let text = |text: &str| Cell::from(text.to_owned());
        assert_eq!(
            rounded(&text("573.2"), &text("14.3")),
            both("573.2", "14.3"),
            "nothing is known but the text"
        );
        assert_eq!(rounded(&text("573.2"), &text("-")), None);
    }
}
