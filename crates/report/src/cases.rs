//! The cases of a run, and the case of each row of a table.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::Value;
use tresse_experiment::Plan;
use tresse_experiment::plan::Case;
use tresse_results::CaseResult;

use crate::head::CaseHead;
use tresse_results::store::read::RunTable;

/// The cases of a run, in the order of its experiment.
#[derive(Debug, Clone, Default)]
pub struct Cases {
    heads: Vec<CaseHead>,
    /// By the values of the axes, as text.
    places: BTreeMap<Vec<(String, String)>, usize>,
}

impl Cases {
    /// The cases of the plan that the run follows, if it is known, and those of its report. A run in progress has
    /// results for some of them only, and the indices must not change whenever a case ends.
    pub fn new(results: &[CaseResult], plan: Option<&Plan>) -> Self {
        let mut cases = Self::default();
        let by_key: BTreeMap<_, usize> = results.iter().enumerate().map(|(n, r)| (key(&r.case), n)).collect();
        for case in plan.iter().flat_map(|plan| &plan.cases) {
            let axes = axes(case);
            let result = by_key.get(&key(&axes)).copied();
            cases.add(result.map_or(axes, |place| results[place].case.clone()), result);
        }
        for (place, result) in results.iter().enumerate() {
            if !cases.places.contains_key(&key(&result.case)) {
                cases.add(result.case.clone(), Some(place));
            }
        }
        cases
    }

    /// The index of the case with these axes, which is added if it is not known.
    pub fn place(&mut self, axes: IndexMap<String, Value>) -> usize {
        match self.places.get(&key(&axes)) {
            Some(&place) => place,
            None => self.add(axes, None),
        }
    }

    /// The index of a case of the plan.
    pub fn of_case(&mut self, case: &Case) -> usize {
        self.place(axes(case))
    }

    /// What the page says about them.
    pub fn heads(&self) -> &[CaseHead] {
        &self.heads
    }

    fn add(&mut self, case: IndexMap<String, Value>, result: Option<usize>) -> usize {
        let (label, scheme) = names(&case);
        self.places.insert(key(&case), self.heads.len());
        self.heads.push(CaseHead { case, label, scheme, result });
        self.heads.len() - 1
    }

    /// By row of `table`: the index of its case.
    ///
    /// # Errors
    /// If the table has no axes.
    pub fn of_rows(&mut self, table: &RunTable) -> Result<Vec<u32>, String> {
        let schema = table.schema();
        let axes: Vec<&str> =
            schema.fields().iter().map(|f| &**f.name()).take_while(|n| *n != "seed").collect();
        let mut columns = Vec::new();
        for axis in &axes {
            let column = if *axis == "subflows" {
                let numbers = table.numbers(axis)?;
                Axis::Numbers(numbers.iter().collect())
            } else {
                let (codes, words) = table.words(axis)?;
                let nulls = table.column(axis)?;
                let codes = codes.into_iter().enumerate();
                Axis::Words(codes.map(|(row, code)| nulls.is_valid(row).then_some(code)).collect(), words)
            };
            columns.push(column);
        }
        let mut known: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
        let mut places = Vec::with_capacity(table.rows.num_rows());
        let mut last = (Vec::new(), 0);
        for row in 0..table.rows.num_rows() {
            let codes: Vec<u64> = columns.iter().map(|column| column.code(row)).collect();
            if codes != last.0 || row == 0 {
                let place = *known.entry(codes.clone()).or_insert_with(|| {
                    let values =
                        axes.iter().zip(&columns).map(|(axis, c)| ((*axis).to_owned(), c.value(row)));
                    // Leave out the axes that do not apply to this case.
                    let own = values.filter(|(axis, value)| axis == "subflows" || !value.is_null());
                    self.place(own.collect()) as u32
                });
                last = (codes, place);
            }
            places.push(last.1);
        }
        Ok(places)
    }
}

/// A column with the values of cases on an axis.
enum Axis {
    Numbers(Vec<Option<u64>>),
    Words(Vec<Option<u32>>, Vec<String>),
}

impl Axis {
    /// A key that is equal if the value is.
    fn code(&self, row: usize) -> u64 {
        match self {
            Self::Numbers(values) => values[row].map_or(0, |value| value + 1),
            Self::Words(codes, _) => codes[row].map_or(0, |code| u64::from(code) + 1),
        }
    }

    fn value(&self, row: usize) -> Value {
        match self {
            Self::Numbers(values) => values[row].map_or(Value::Null, Value::from),
            Self::Words(codes, words) => {
                codes[row].map_or(Value::Null, |code| Value::String(words[code as usize].clone()))
            }
        }
    }
}

/// The axes of a case of the plan.
fn axes(case: &Case) -> IndexMap<String, Value> {
    let value = |(axis, text): (&str, String)| {
        let number = (axis == "subflows").then(|| text.parse::<u64>().ok()).flatten();
        (axis.to_owned(), number.map_or(Value::String(text), Value::from))
    };
    case.axes().into_iter().map(value).collect()
}

/// The values of the axes as text, in the order of their names, which may differ from the order in a file.
fn key(axes: &IndexMap<String, Value>) -> Vec<(String, String)> {
    // Tables, files and JSON write a number in different ways: 0.000001 and 1e-6.
    let plain =
        |text: &str| text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string());
    let text = |value: &Value| match value {
        Value::String(text) => Some(plain(text)),
        Value::Null => None,
        other => Some(plain(&other.to_string())),
    };
    let mut key: Vec<(String, String)> =
        axes.iter().filter_map(|(axis, value)| Some((axis.clone(), text(value)?))).collect();
    key.sort();
    key
}

/// The label of a case with these axes, and its scheme: `xmp-2 permutation`, `xmp-2`.
pub(crate) fn names(case: &IndexMap<String, Value>) -> (String, String) {
    let named = CaseResult { case: case.clone(), ..nameless() };
    (named.label(), named.scheme())
}

/// A case without any results.
fn nameless() -> CaseResult {
    let empty = serde_json::json!({
        "case": {}, "metrics": {}, "by": {}, "ci95": {}, "ci95_over": "", "published": {}, "published_by": {},
        "optimum": {}, "optimum_of": "",
    });
    serde_json::from_value(empty).expect("the keys of a case")
}
