//! Entries of `MAXIMISES` and `FOLLOWS`, checked and turned into Rust's types.

use super::raw::{RawByPath, RawLaw, RawObjective, RawQuantity};
use super::{
    Answers, CutKind, Family, Follows, GrowthKind, LawKind, Maximises, NOT_JUDGED, Payment, RateUnit,
    Standing, TOLERANCE, Word, text,
};

/// A number of a declaration: `struct quantity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity(Form);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    LeftOut,
    Constant { value: u64, per: u64 },
    Parameter { name: &'static str, halvings: bool },
}

impl Quantity {
    /// Nothing was declared.
    const LEFT_OUT: Self = Self(Form::LeftOut);

    fn of(raw: &RawQuantity) -> Self {
        Self(match (text(raw.parameter), raw.per) {
            ("", 0) => Form::LeftOut,
            ("", per) => Form::Constant { value: raw.value, per },
            (name, _) => Form::Parameter { name, halvings: raw.halvings != 0 },
        })
    }

    /// The number, by the value and the unit of a parameter; `None` if it was left out.
    pub(super) fn value(&self, parameter: impl Fn(&str) -> Option<(u64, &'static str)>) -> Option<f64> {
        match self.0 {
            Form::LeftOut => None,
            Form::Constant { value, per } => Some(value as f64 / per as f64),
            Form::Parameter { name, halvings } => {
                let (value, unit) = parameter(name)?;
                Some(if halvings { 0.5f64.powi(value as i32) } else { in_unit(value as f64, unit) })
            }
        }
    }
}

/// A parameter's value in the unit of which its own is a part or a multiple.
fn in_unit(value: f64, unit: &str) -> f64 {
    let parts = unit.strip_prefix("1/").and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    match (parts, unit) {
        (Some(parts), _) => value / parts,
        (None, "%") => value / 100.0,
        (None, "kbit/s") => value * 1e3,
        (None, "Mbit/s") => value * 1e6,
        _ => value,
    }
}

/// A number for each path: `struct by_path`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByPath {
    places: [Quantity; 4],
    each: Quantity,
    rule: Quantity,
}

impl ByPath {
    fn of(raw: &RawByPath) -> Self {
        let place = |name: *const std::ffi::c_char| match text(name) {
            "" => Quantity::LEFT_OUT,
            name => Quantity(Form::Parameter { name, halvings: false }),
        };
        Self { places: raw.places.map(place), each: Quantity::of(&raw.each), rule: Quantity::of(&raw.rule) }
    }

    /// The numbers of `paths` paths.
    pub(super) fn values(&self, paths: usize, number: impl Fn(&Quantity) -> Option<f64>) -> Vec<f64> {
        let m = paths as f64;
        let by_rule = match number(&self.rule) {
            None => 1.0,
            Some(1.0) => 1.0 / m.sqrt(),
            Some(3.0) => 1.0 / (m * m),
            Some(_) => 1.0 / m,
        };
        let given = |quantity: &Quantity| number(quantity).filter(|&value| value > 0.0);
        let of_path =
            |i: usize| self.places.get(i).and_then(given).or_else(|| given(&self.each)).unwrap_or(by_rule);
        (0..paths).map(of_path).collect()
    }
}

/// A checked word; a declaration's words are checked when it is loaded, and Tresse's own by a test.
fn word<W: Word>(value: u32) -> W {
    W::of(value).unwrap_or(W::ALL[0])
}

fn tolerance(declared: u32) -> Option<u32> {
    match declared {
        0 => Some(TOLERANCE),
        NOT_JUDGED => None,
        thousandths => Some(thousandths),
    }
}

pub(super) fn maximises(raw: &RawObjective, source: &'static str) -> Maximises {
    let own = text(raw.source);
    Maximises {
        family: word::<Family>(raw.utility),
        pooled: raw.pooling != 0,
        standing: word::<Standing>(raw.standing),
        payment: word::<Payment>(raw.price),
        unit: word::<RateUnit>(raw.unit),
        alpha: Quantity::of(&raw.alpha),
        reference: Quantity::of(&raw.reference),
        beta: Quantity::of(&raw.beta),
        weight: Quantity::of(&raw.weight),
        scale: Quantity::of(&raw.scale),
        coefficients: ByPath::of(&raw.coefficients),
        min_rate: Quantity::of(&raw.min_rate),
        max_rate: Quantity::of(&raw.max_rate),
        source: if own.is_empty() { source } else { own },
        caveat: text(raw.caveat),
        tolerance: tolerance(raw.tolerance),
    }
}

pub(super) fn follows(raw: &RawLaw) -> Follows {
    Follows {
        kind: word::<LawKind>(raw.kind),
        growth: word::<GrowthKind>(raw.growth),
        cutting: word::<CutKind>(raw.cutting),
        answers: word::<Answers>(raw.answers),
        weights: ByPath::of(&raw.weights),
        cut: Quantity::of(&raw.cut),
        divisor: Quantity::of(&raw.divisor),
        cuts: ByPath::of(&raw.cuts),
        gain: Quantity::of(&raw.gain),
        r_max: Quantity::of(&raw.r_max),
        r_min: Quantity::of(&raw.r_min),
        tolerance: tolerance(raw.tolerance),
    }
}

/// Refuses a word that `law.h` does not define.
fn check_word<W: Word>(field: &str, value: u32) -> Result<(), String> {
    match W::of(value) {
        Some(_) => Ok(()),
        None => Err(format!(".{field} is {value}, which law.h does not define")),
    }
}

/// Refuses a parameter that is not declared.
fn check_name(field: &str, name: &str, known: &[&str]) -> Result<(), String> {
    if name.is_empty() || known.contains(&name) {
        return Ok(());
    }
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(format!(".{field} names the parameter `{name}`, which is not declared (declared: {known})"))
}

fn check_quantities(fields: &[(&str, &RawQuantity)], known: &[&str]) -> Result<(), String> {
    fields.iter().try_for_each(|(field, quantity)| check_name(field, text(quantity.parameter), known))
}

fn check_by_path(field: &str, raw: &RawByPath, known: &[&str]) -> Result<(), String> {
    raw.places.iter().try_for_each(|&place| check_name(field, text(place), known))?;
    check_quantities(&[(field, &raw.each), (field, &raw.rule)], known)
}

pub(super) fn check_objective(raw: &RawObjective, known: &[&str]) -> Result<(), String> {
    check_name("when", text(raw.when), known)?;
    check_word::<Family>("utility", raw.utility)?;
    check_word::<Standing>("standing", raw.standing)?;
    check_word::<Payment>("price", raw.price)?;
    check_word::<RateUnit>("unit", raw.unit)?;
    if raw.pooling > 1 {
        return Err(format!(".pooling is {}, which law.h does not define", raw.pooling));
    }
    if word::<Family>(raw.utility) == Family::None && word::<Standing>(raw.standing) != Standing::None {
        return Err("a .standing needs a .utility".to_owned());
    }
    check_by_path("coefficients", &raw.coefficients, known)?;
    let quantities = [
        ("alpha", &raw.alpha),
        ("reference", &raw.reference),
        ("beta", &raw.beta),
        ("weight", &raw.weight),
        ("scale", &raw.scale),
        ("min_rate", &raw.min_rate),
        ("max_rate", &raw.max_rate),
    ];
    check_quantities(&quantities, known)
}

pub(super) fn check_law(raw: &RawLaw, known: &[&str]) -> Result<(), String> {
    check_name("when", text(raw.when), known)?;
    check_word::<LawKind>("kind", raw.kind)?;
    check_word::<GrowthKind>("growth", raw.growth)?;
    check_word::<CutKind>("cutting", raw.cutting)?;
    check_word::<Answers>("answers", raw.answers)?;
    check_by_path("weights", &raw.weights, known)?;
    check_by_path("cuts", &raw.cuts, known)?;
    let quantities = [
        ("cut", &raw.cut),
        ("divisor", &raw.divisor),
        ("gain", &raw.gain),
        ("r_max", &raw.r_max),
        ("r_min", &raw.r_min),
    ];
    check_quantities(&quantities, known)?;
    let marked = word::<CutKind>(raw.cutting) == CutKind::Marked;
    let gainless = text(raw.gain.parameter).is_empty() && raw.gain.per == 0;
    if marked && gainless { Err("CUT_MARKED needs .gain".to_owned()) } else { Ok(()) }
}
