//! What an experiment file writes once for several claims, or for several cases of one claim: `for_each`, `each`,
//! `for_all` and `same_as` (`tresse explain claims`). Claims are expanded when the file is read, so that no other
//! code needs to know about it. Expanded claims keep their location in the text, for messages.

mod row;
mod same_as;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};
use tresse_experiment::diagnostic::{Wrong, did_you_mean};

use row::{KEYS, Name, Row, Value, said, text};
use same_as::same_as;

fn wrong<T>(span: Range<usize>, message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::offset(span.start, message))
}

/// The keys of a claim as a whole, whatever cases `for_all` stands for.
const OF_THE_WHOLE: [&str; 8] =
    ["id", "text", "source", "reading_of", "expected", "because", "contradicts", "at_least"];

/// Expands the claims in the tables of an experiment's file.
///
/// # Errors
/// What is wrong with their abbreviations, with its location in the text.
pub(super) fn write_out(file: &mut DeTable) -> Result<(), Wrong> {
    if let Some(DeValue::Array(claims)) = file.get_mut("claims").map(Spanned::get_mut) {
        let mut written = Vec::new();
        let mut left = Left { claims: MOST_CLAIMS, combinations: MOST_COMBINATIONS };
        for entry in claims.iter() {
            let mut block = Block { left, ..Block::default() };
            block.write_out(entry, &Row::default(), &mut written)?;
            left = block.left;
            block.check()?;
        }
        ["text", "because", "contradicts"].iter().try_for_each(|key| same_as(key, &mut written))?;
        *claims = DeArray::new();
        written.into_iter().for_each(|claim| claims.push(claim));
    }
    Ok(())
}

/// A name or a value of `for_each`.
struct Use {
    span: Range<usize>,
    /// The error if nothing uses it.
    message: String,
    is_used: bool,
}

/// The most claims of an experiment, with the cases of those that have several.
const MOST_CLAIMS: usize = 10_000;

/// The most combinations of values that are looked at, whether they make a claim or not.
const MOST_COMBINATIONS: usize = 200_000;

/// How many more there may be.
#[derive(Clone, Copy, Default)]
struct Left {
    claims: usize,
    combinations: usize,
}

/// One entry of `[[claims]]`, which may stand for many.
#[derive(Default)]
struct Block {
    left: Left,
    /// The names and values in `for_each`, by where they begin.
    names: BTreeMap<usize, Use>,
    values: BTreeMap<usize, Use>,
}

impl Block {
    fn used(&mut self, start: usize) {
        for uses in [&mut self.names, &mut self.values] {
            uses.entry(start).and_modify(|it| it.is_used = true);
        }
    }

    /// Refuses more claims than there may be.
    fn make_claim(&mut self, span: Range<usize>) -> Result<(), Wrong> {
        match self.left.claims.checked_sub(1) {
            Some(left) => self.left.claims = left,
            None => {
                let message = format!("this makes more than {MOST_CLAIMS} claims: use fewer values");
                return wrong(span, message);
            }
        }
        Ok(())
    }

    /// Refuses more combinations than there may be, before they are made.
    fn combine(&mut self, count: usize, span: Range<usize>) -> Result<(), Wrong> {
        match self.left.combinations.checked_sub(count) {
            Some(left) => self.left.combinations = left,
            None => {
                let message =
                    format!("this makes more than {MOST_COMBINATIONS} combinations: use fewer values");
                return wrong(span, message);
            }
        }
        Ok(())
    }

    /// Refuses names and values that nothing uses.
    fn check(self) -> Result<(), Wrong> {
        match self.values.into_values().chain(self.names.into_values()).find(|it| !it.is_used) {
            Some(Use { span, message, .. }) => wrong(span, message),
            None => Ok(()),
        }
    }

    /// Expands the claims of `entry`, for the combinations of `outer`.
    fn write_out<'i>(
        &mut self,
        entry: &Value<'i>,
        outer: &Row<'i>,
        out: &mut Vec<Value<'i>>,
    ) -> Result<(), Wrong> {
        let DeValue::Table(table) = entry.get_ref() else {
            out.push(entry.clone());
            return Ok(());
        };
        let mut claim = table.clone();
        let each = claim.remove("each");
        let rows = match claim.remove("for_each") {
            Some(for_each) => {
                let rows = self.rows(&for_each)?;
                self.combine(rows.len(), for_each.span())?;
                rows.iter().filter_map(|row| outer.and(row)).collect()
            }
            None => vec![outer.clone()],
        };
        let Some(each) = each else {
            let for_all = claim.remove("for_all");
            for row in rows {
                self.make_claim(entry.span())?;
                let claim = match &for_all {
                    Some(for_all) => self.claim_of_all(for_all, &claim, &row)?,
                    None => self.claim(claim.clone(), &row)?,
                };
                out.push(Spanned::new(entry.span(), DeValue::Table(claim)));
            }
            return Ok(());
        };
        let claims = match each.get_ref() {
            DeValue::Array(claims) if !claims.is_empty() => claims,
            _ => return wrong(each.span(), "expected claims, as `[[claims.each]]`"),
        };
        // What else the entry says, its claims need not.
        let mut below = claims.to_vec();
        for own in below.iter_mut().map(Spanned::get_mut) {
            let DeValue::Table(own) = own else { continue };
            for (key, value) in &claim {
                own.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        for row in &rows {
            self.combine(below.len(), each.span())?;
            below.iter().try_for_each(|claim| self.write_out(claim, row, out))?;
        }
        Ok(())
    }

    /// The rows that a `for_each`, or a part of it, stands for.
    fn rows<'i>(&mut self, of: &Value<'i>) -> Result<Vec<Row<'i>>, Wrong> {
        match of.get_ref() {
            DeValue::Array(list) if list.is_empty() => {
                wrong(of.span(), "the list is empty, so there is no claim")
            }
            DeValue::Array(list) => {
                let mut all = Vec::new();
                for own in list.iter() {
                    let rows = self.rows(own)?;
                    self.combine(rows.len(), own.span())?;
                    all.extend(rows);
                }
                Ok(all)
            }
            DeValue::Table(table) if table.is_empty() => {
                wrong(of.span(), "the table is empty: it names nothing")
            }
            DeValue::Table(table) => table
                .iter()
                .try_fold(vec![Row::default()], |rows, (name, value)| self.with(rows, name, value)),
            _ => {
                let example = "{ scheme = [\"lia\", \"xmp\"] }, or a list of tables";
                wrong(of.span(), format!("expected lists by name, such as {example}"))
            }
        }
    }

    /// Each of `rows` combined with each value of `name`.
    fn with<'i>(
        &mut self,
        rows: Vec<Row<'i>>,
        name: &Name<'i>,
        value: &Value<'i>,
    ) -> Result<Vec<Row<'i>>, Wrong> {
        let mut own = Vec::new();
        match value.get_ref() {
            DeValue::Array(list) if !KEYS.contains(&&**name.get_ref()) => {
                if list.is_empty() {
                    return wrong(value.span(), "the list is empty, so there is no claim");
                }
                for value in list.iter() {
                    match value.get_ref() {
                        DeValue::Table(_) => own.extend(self.rows(value)?),
                        _ => own.push(self.row(name, value)),
                    }
                }
            }
            _ => own.push(self.row(name, value)),
        }
        self.combine(rows.len().saturating_mul(own.len()), value.span())?;
        let mut both = Vec::new();
        for row in &rows {
            let before = both.len();
            both.extend(own.iter().filter_map(|own| row.and(own)));
            if before == both.len() && own.iter().any(|own| row.shares(own)) {
                let is_shared = |name: &Name| own.iter().any(|own| own.get(name.get_ref()).is_some());
                let values = row.values.iter().filter(|(name, _)| is_shared(name));
                let values: Vec<String> = values.map(|(name, value)| said(name, value)).collect();
                return wrong(value.span(), format!("none of the values is for {}", values.join(", ")));
            }
        }
        Ok(both)
    }

    fn row<'i>(&mut self, name: &Name<'i>, value: &Value<'i>) -> Row<'i> {
        if !KEYS.contains(&&**name.get_ref()) {
            let must_use = |span: Range<usize>, message| move || Use { span, message, is_used: false };
            let own = name.get_ref();
            let unused = format!("nothing uses `{own}`: no text has `{{{own}}}`");
            self.names.entry(name.span().start).or_insert_with(must_use(name.span(), unused));
            let unused = format!("there is no claim of {}", said(name, value));
            self.values.entry(value.span().start).or_insert_with(must_use(value.span(), unused));
        }
        Row::of(name, value)
    }

    /// The claim that an entry stands for.
    fn claim<'i>(&mut self, mut claim: DeTable<'i>, row: &Row<'i>) -> Result<DeTable<'i>, Wrong> {
        if row.values.is_empty() {
            return Ok(claim);
        }
        row.from.iter().for_each(|&start| self.used(start));
        for (name, value) in row.values.iter().filter(|(name, _)| KEYS.contains(&&**name.get_ref())) {
            claim.insert(name.clone(), value.clone());
        }
        for (_, value) in claim.iter_mut() {
            self.fill(value, row)?;
        }
        // The first of the readings is the default, and none of another.
        if claim.get("reading_of").map(text) == claim.get("id").map(text) {
            claim.remove("reading_of");
        }
        Ok(claim)
    }

    /// The single claim over everything that `for_all` stands for: its own keys, and a claim for
    /// each case.
    fn claim_of_all<'i>(
        &mut self,
        for_all: &Value<'i>,
        claim: &DeTable<'i>,
        outer: &Row<'i>,
    ) -> Result<DeTable<'i>, Wrong> {
        let put = |table: &mut DeTable<'i>, key: &'i str, value: DeValue<'i>| {
            table.insert(Spanned::new(for_all.span(), key.into()), Spanned::new(for_all.span(), value));
        };
        let (mut whole, mut cases) = (DeTable::new(), DeArray::new());
        for row in self.rows(for_all)? {
            self.combine(1, for_all.span())?;
            let Some(both) = outer.and(&row) else { continue };
            self.make_claim(for_all.span())?;
            let mut case = self.claim(claim.clone(), &both)?;
            let is_first = cases.is_empty();
            for key in OF_THE_WHOLE {
                let own = case.remove_entry(key);
                let said = own.as_ref().map(|(_, value)| text(value));
                if row.get(key).is_some() || !is_first && said != whole.get(key).map(text) {
                    let message = format!("`{key}` differs from case to case, but `for_all` makes one claim");
                    return wrong(own.map_or(for_all.span(), |(_, value)| value.span()), message);
                }
                if is_first {
                    whole.extend(own);
                }
            }
            if is_first && let Some(metric) = case.get("metric") {
                put(&mut whole, "metric", metric.get_ref().clone());
            }
            let named = row.values.iter().filter_map(|(name, value)| Some((name.get_ref(), text(value)?)));
            let name = named.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
            let id = whole.get("id").and_then(text).unwrap_or_default();
            put(&mut case, "id", DeValue::String(format!("{id}, {name}").into()));
            put(&mut case, "text", DeValue::String(name.into()));
            cases.push(Spanned::new(for_all.span(), DeValue::Table(case)));
        }
        if cases.is_empty() {
            return wrong(for_all.span(), "none of the values is for this claim");
        }
        put(&mut whole, "cases", DeValue::Array(cases));
        Ok(whole)
    }

    /// Puts the values of `row` into all texts of `value`.
    fn fill<'i>(&mut self, value: &mut Value<'i>, row: &Row<'i>) -> Result<(), Wrong> {
        let span = value.span();
        match value.get_mut() {
            DeValue::Array(list) => list.iter_mut().try_for_each(|value| self.fill(value, row)),
            DeValue::Table(table) => table.iter_mut().try_for_each(|(_, value)| self.fill(value, row)),
            DeValue::String(template) => {
                let mut filled = String::new();
                let mut rest = template.as_ref();
                while let Some((before, name, after)) = placeholder(rest) {
                    let Some((key, own)) = row.get(name) else {
                        let names = row.values.iter().map(|(name, _)| name.get_ref().as_ref());
                        let names: Vec<&str> = names.filter(|name| !KEYS.contains(name)).collect();
                        let hint = did_you_mean(name, names.iter().copied());
                        let names = names.join(", ");
                        return wrong(span, format!("`for_each` has no `{name}`{hint} (it has: {names})"));
                    };
                    self.used(key.span().start);
                    if before.is_empty() && after.is_empty() && filled.is_empty() {
                        *value = own.clone();
                        return Ok(());
                    }
                    let Some(own) = text(own) else {
                        return wrong(
                            span,
                            format!(
                                "`{{{name}}}` is not a text, so it must be the whole value, \"{{{name}}}\""
                            ),
                        );
                    };
                    filled += before;
                    filled += &own;
                    rest = after;
                }
                filled += rest;
                *template = Cow::Owned(filled);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The first `{name}` in a text, with the text before and after it.
fn placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    text.match_indices('{').find_map(|(at, _)| {
        let (name, after) = text[at + 1..].split_once('}')?;
        is_name(name).then(|| (&text[..at], name, after))
    })
}
