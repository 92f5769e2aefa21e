//! What an experiment file writes once and means of several claims: `for_each`, `each` and `same_as`
//! (`tresse explain claims`). The claims are written out when the file is read, so that nobody else knows of it. What is
//! written out keeps its place in the text, for messages.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue, Deserializer};

use crate::diagnostic::{Wrong, did_you_mean};

fn wrong<T>(span: Range<usize>, message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::offset(span.start, message))
}

/// The keys of a claim that `for_each` may set.
const KEYS: [&str; 19] = [
    "id",
    "text",
    "source",
    "reading_of",
    "metric",
    "left",
    "right",
    "ratio_above",
    "ratio_below",
    "difference_above",
    "difference_below",
    "of",
    "above",
    "below",
    "order",
    "slack",
    "jumps",
    "expected",
    "because",
];

type Name<'i> = Spanned<DeString<'i>>;
type Value<'i> = Spanned<DeValue<'i>>;

/// Reads an experiment file, its claims written out.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Wrong> {
    Ok(T::deserialize(Deserializer::from(parse(text)?))?)
}

/// The tables of an experiment file, its claims written out.
pub(crate) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, Wrong> {
    let mut table = DeTable::parse(text)?;
    if let Some(DeValue::Array(claims)) = table.get_mut().get_mut("claims").map(Spanned::get_mut) {
        let mut written = Vec::new();
        for entry in claims.iter() {
            let mut block = Block::default();
            block.write_out(entry, &Row::default(), &mut written)?;
            block.check()?;
        }
        ["text", "because"].iter().try_for_each(|key| same_as(key, &mut written))?;
        *claims = DeArray::new();
        written.into_iter().for_each(|claim| claims.push(claim));
    }
    Ok(table)
}

/// What placeholders stand for in one claim.
#[derive(Clone, Default)]
struct Row<'i> {
    values: Vec<(Name<'i>, Value<'i>)>,
    /// Where in the text all of it begins that must come to a claim.
    from: Vec<usize>,
}

impl<'i> Row<'i> {
    fn of(name: &Name<'i>, value: &Value<'i>) -> Self {
        Self { values: vec![(name.clone(), value.clone())], from: vec![value.span().start] }
    }

    fn get(&self, name: &str) -> Option<&(Name<'i>, Value<'i>)> {
        self.values.iter().find(|(own, _)| own.get_ref() == name)
    }

    fn shares(&self, other: &Self) -> bool {
        let is_shared = |name: &str| !KEYS.contains(&name) && self.get(name).is_some();
        other.values.iter().any(|(name, _)| is_shared(name.get_ref()))
    }

    /// Both together, if they agree on the names that both have. A key of the claim is the other's.
    fn and(&self, other: &Self) -> Option<Self> {
        let mut both = self.clone();
        both.from.extend(&other.from);
        for (name, value) in &other.values {
            let own = both.values.iter().position(|(own, _)| own.get_ref() == name.get_ref());
            match own {
                Some(own) if KEYS.contains(&&**name.get_ref()) => both.values[own].1 = value.clone(),
                Some(own) if text(&both.values[own].1) == text(value) => both.from.push(name.span().start),
                Some(_) => return None,
                None => both.values.push((name.clone(), value.clone())),
            }
        }
        Some(both)
    }
}

/// A name or a value of `for_each`.
struct Use {
    span: Range<usize>,
    /// What is wrong if nothing uses it.
    message: String,
    is_used: bool,
}

/// One entry of `[[claims]]`, which may stand for many.
#[derive(Default)]
struct Block {
    /// What `for_each` has, by where it begins.
    names: BTreeMap<usize, Use>,
    values: BTreeMap<usize, Use>,
}

impl Block {
    fn used(&mut self, start: usize) {
        for uses in [&mut self.names, &mut self.values] {
            uses.entry(start).and_modify(|it| it.is_used = true);
        }
    }

    /// Refuses what nothing uses.
    fn check(self) -> Result<(), Wrong> {
        match self.values.into_values().chain(self.names.into_values()).find(|it| !it.is_used) {
            Some(Use { span, message, .. }) => wrong(span, message),
            None => Ok(()),
        }
    }

    /// Writes out the claims of `entry`, of those that `outer` is of.
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
            Some(for_each) => self.rows(&for_each)?.iter().filter_map(|row| outer.and(row)).collect(),
            None => vec![outer.clone()],
        };
        let Some(each) = each else {
            for row in rows {
                let claim = self.claim(claim.clone(), &row)?;
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
            below.iter().try_for_each(|claim| self.write_out(claim, row, out))?;
        }
        Ok(())
    }

    /// What a `for_each`, or a part of it, stands for.
    fn rows<'i>(&mut self, of: &Value<'i>) -> Result<Vec<Row<'i>>, Wrong> {
        match of.get_ref() {
            DeValue::Array(list) if list.is_empty() => {
                wrong(of.span(), "the list is empty: there is no claim")
            }
            DeValue::Array(list) => {
                let rows: Result<Vec<_>, _> = list.iter().map(|row| self.rows(row)).collect();
                Ok(rows?.concat())
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

    /// Each of `rows` with each of what stands behind `name`.
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
                    return wrong(value.span(), "the list is empty: there is no claim");
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
        let mut both = Vec::new();
        for row in &rows {
            let before = both.len();
            both.extend(own.iter().filter_map(|own| row.and(own)));
            if before == both.len() && own.iter().any(|own| row.shares(own)) {
                let is_shared = |name: &Name| own.iter().any(|own| own.get(name.get_ref()).is_some());
                let values = row.values.iter().filter(|(name, _)| is_shared(name));
                let values: Vec<String> = values.map(|(name, value)| said(name, value)).collect();
                return wrong(value.span(), format!("none of it is for {}", values.join(", ")));
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
                            format!("`{{{name}}}` is no text: it stands alone, as \"{{{name}}}\""),
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

/// The first `{name}` of a text, with what is before and after it.
fn placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    text.match_indices('{').find_map(|(at, _)| {
        let (name, after) = text[at + 1..].split_once('}')?;
        is_name(name).then(|| (&text[..at], name, after))
    })
}

/// A value as it stands in a text; none of a list or a table.
fn text(value: &Value) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(is) => Some(is.to_string()),
        _ => None,
    }
}

/// `scheme = "xmp"`.
fn said(name: &Name, value: &Value) -> String {
    let value = match value.get_ref() {
        DeValue::String(text) => format!("\"{text}\""),
        _ => text(value).unwrap_or_else(|| "…".to_owned()),
    };
    format!("{} = {value}", name.get_ref())
}

/// Gives claims whose `key` is `{ same_as = "id" }` what that claim has there.
fn same_as(key: &str, claims: &mut [Value]) -> Result<(), Wrong> {
    let mut taken = Vec::new();
    let of = |claim, key| DeValue::get(claim, key);
    let all = claims.iter().map(Spanned::get_ref);
    let all: Vec<_> = all.map(|claim| Some((text(of(claim, "id")?)?, of(claim, key)))).collect();
    for (place, own) in all.iter().enumerate() {
        let Some((own, Some(value))) = own else { continue };
        let DeValue::Table(table) = value.get_ref() else { continue };
        let Some(of) = table.get("same_as").filter(|_| table.len() == 1).and_then(text) else {
            return wrong(value.span(), "expected a sentence, or { same_as = \"the id of a claim\" }");
        };
        if of == *own {
            return wrong(value.span(), format!("{own}: this is the claim itself"));
        }
        let Some((_, theirs)) = all.iter().flatten().find(|(id, _)| *id == of) else {
            let hint = did_you_mean(&of, all.iter().flatten().map(|(id, _)| id.as_str()));
            return wrong(value.span(), format!("{own}: there is no claim `{of}`{hint}"));
        };
        match theirs.map(Spanned::get_ref) {
            None => return wrong(value.span(), format!("{own}: `{of}` has no `{key}`")),
            Some(DeValue::Table(_)) => {
                let message = format!("{own}: `{of}` takes its `{key}` from another claim: name that one");
                return wrong(value.span(), message);
            }
            Some(theirs) => taken.push((place, Spanned::new(value.span(), theirs.clone()))),
        }
    }
    for (place, taken) in taken {
        if let DeValue::Table(claim) = claims[place].get_mut()
            && let Some(value) = claim.get_mut(key)
        {
            *value = taken;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::keys::claims::Claim;

    #[test]
    fn every_key_of_a_claim_may_be_set() {
        let schema = schemars::schema_for!(Claim);
        let own = schema.get("properties").and_then(|p| p.as_object()).expect("a table");
        let own: BTreeSet<&str> = own.keys().map(String::as_str).collect();
        let keys: BTreeSet<&str> = KEYS.into_iter().chain(["for_each", "each"]).collect();
        assert_eq!(keys, own);
    }
}
