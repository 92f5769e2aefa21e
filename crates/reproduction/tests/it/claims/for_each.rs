//! Claims that are written once and expand to several.

use tresse_experiment::{Loaded, Profile, Source};
use tresse_reproduction::Publication;
use tresse_reproduction::schema::claims::{Claim, Expected, Selectors};
use tresse_results::record::claim::Verdict;

use super::EXPERIMENT;
use crate::OWNERS;

fn read(more: &str) -> Result<Loaded, String> {
    let source = Source { name: "t.toml".to_owned(), text: format!("{EXPERIMENT}{more}") };
    let loaded = OWNERS.load(source, Profile::Full, &[]).map_err(|e| e.to_string())?;
    OWNERS.resolve(&loaded, &[]).map_err(|e| e.to_string())?;
    Ok(loaded)
}

fn claims(more: &str) -> Vec<Claim> {
    let loaded = read(more).unwrap_or_else(|e| panic!("{e}"));
    Publication::of(&loaded.experiment).expect("it was checked").claims
}

fn ids(claims: &[Claim]) -> Vec<&str> {
    claims.iter().map(|claim| claim.id.as_str()).collect()
}

/// The end of a claim that names no scheme.
const REST: &str = "text = \"t\"\nmetric = \"flows\"\nabove = 0\n";

#[test]
fn an_entry_stands_for_every_combination() {
    let claims = claims(
        r#"
[[claims]]
for_each = { scheme = ["lia", "xmp"], subflows = [2, 4] }
id = "many-{scheme}-{subflows}"
text = "{scheme} has flows, and braces {} { stay"
metric = "flows"
left = { scheme = "{scheme}", subflows = "{subflows}" }
right = [{ scheme = "dctcp" }]
ratio_above = 1.5
"#,
    );
    assert_eq!(ids(&claims), ["many-lia-2", "many-lia-4", "many-xmp-2", "many-xmp-4"]);
    assert_eq!(claims[2].text, "xmp has flows, and braces {} { stay");
    let left = claims[3].left.as_ref().expect("a case");
    assert_eq!((left.scheme.as_deref(), left.subflows), (Some("xmp"), Some(4)));
    assert!(claims.iter().all(|c| c.ratio_above == Some(1.5) && c.expected == Expected::default()));
}

/// Lists of tables set several placeholders at once, and keys of the claim; those that share a placeholder are joined,
/// in the order of the first.
#[test]
fn tables_go_together_by_what_they_share() {
    let claims = claims(
        r#"
[[claims]]
for_each.scheme = [{ scheme = "lia", name = "LIA" }, { scheme = "xmp", name = "XMP" }, { scheme = "dctcp", name = "DCTCP" }]
for_each.verdict = [
  { scheme = ["lia", "dctcp"], above = 2, expected = "does not hold", because = "{name} has few" },
  { scheme = "xmp" },
]
id = "of-{scheme}"
text = "{name} has flows"
metric = "flows"
of = { scheme = "{scheme}" }
above = 1
"#,
    );
    assert_eq!(ids(&claims), ["of-lia", "of-xmp", "of-dctcp"]);
    assert_eq!(claims.iter().map(|c| c.above).collect::<Vec<_>>(), [Some(2.0), Some(1.0), Some(2.0)]);
    let reasons: Vec<_> = claims.iter().map(|c| c.because.as_deref()).collect();
    assert_eq!(reasons, [Some("LIA has few"), None, Some("DCTCP has few")]);
    assert_eq!(claims[2].expected, Expected::Both(Verdict::DoesNotHold));
}

#[test]
fn claims_below_an_entry_take_turns() {
    let loaded = read(
        r#"
[[claims]]
for_each.pattern = ["permutation", "jobs"]
metric = "flows"
text = "t"
[[claims.each]]
for_each.scheme = ["lia", "xmp"]
id = "{scheme}-{pattern}"
of = [{ scheme = "{scheme}", pattern = "{pattern}" }]
above = 0
[[claims.each]]
for_each = { pattern = "jobs", text = "of jobs" }
id = "only-{pattern}"
of = { scheme = "dctcp", pattern = "{pattern}" }
below = 9
[[claims]]
id = "{plain}"
text = "{scheme}"
metric = "flows"
of = { scheme = "dctcp" }
above = 0
"#,
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let claims = &Publication::of(&loaded.experiment).expect("it was checked").claims;
    let expected = ["lia-permutation", "xmp-permutation", "lia-jobs", "xmp-jobs", "only-jobs", "{plain}"];
    assert_eq!(ids(claims), expected);
    assert_eq!((claims[3].text.as_str(), claims[4].text.as_str()), ("t", "of jobs"));
    assert!(matches!(&claims[3].of, Some(Selectors::List(list)) if list.len() == 1));
    // The resolved experiment, as in `run.json`, has plain claims too.
    let plain = loaded.resolved["claims"].as_array().expect("claims");
    assert_eq!(plain.len(), 6);
    assert!(plain.iter().all(|claim| claim.get("for_each").is_none() && claim.get("each").is_none()));
}

#[test]
fn the_first_reading_is_the_default() {
    let claims = claims(&format!(
        "[[claims]]\nfor_each.subflows = [2, 4]\nid = \"with-{{subflows}}\"\nreading_of = \"with-2\"\n\
         of = {{ scheme = \"xmp\", subflows = \"{{subflows}}\" }}\n{REST}"
    ));
    let readings: Vec<_> = claims.iter().map(|c| c.reading_of.as_deref()).collect();
    assert_eq!(readings, [None, Some("with-2")]);
}

#[test]
fn sentences_are_those_of_another_claim() {
    let claims = claims(
        r#"
[[claims]]
id = "b"
text = { same_as = "a-lia" }
metric = "flows"
of = { scheme = "xmp" }
above = 0
expected = "does not hold"
because = { same_as = "a-xmp" }
[[claims]]
for_each.scheme = ["lia", "xmp"]
id = "a-{scheme}"
text = "{scheme} has flows"
metric = "flows"
of = { scheme = "{scheme}" }
above = 0
expected = "inconclusive"
because = "{scheme} is slow"
"#,
    );
    assert_eq!(
        (claims[0].text.as_str(), claims[0].because.as_deref()),
        ("lia has flows", Some("xmp is slow"))
    );
}

/// The error for a file with these claims; the text that it points to must begin with `place`.
fn refused(more: &str, place: &str, message: &str) {
    let error = read(more).map(drop).expect_err(more);
    assert!(error.contains(message), "{more}\n{error}");
    let mut numbers = error.strip_prefix("t.toml:").expect("a place").splitn(3, ':');
    let [line, column] = [(); 2].map(|()| numbers.next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0));
    let all = format!("{EXPERIMENT}{more}");
    let found = &all.lines().nth(line - 1).expect("a line of the file")[column - 1..];
    assert!(found.starts_with(place), "{found} instead of {place}\n{error}");
}

#[test]
fn what_is_wrong_with_for_each_has_its_place() {
    let id = "id = \"c-{scheme}\"";
    let of = "of = { scheme = \"{scheme}\" }";
    for (for_each, more, place, message) in [
        ("{ scheme = [] }", id, "[]", "the list is empty, so there is no claim"),
        ("[]", id, "[]", "the list is empty, so there is no claim"),
        ("{}", id, "{}", "the table is empty: it names nothing"),
        ("\"lia\"", id, "\"lia\"", "expected lists by name, such as { scheme = [\"lia\", \"xmp\"] }"),
        (
            "{ schema = [\"lia\"] }",
            id,
            "\"c-{scheme}\"",
            "`for_each` has no `scheme`; did you mean `schema`?",
        ),
        ("{ scheme = [\"lia\"], n = [1, 2] }", id, "n = [1", "nothing uses `n`: no text has `{n}`"),
        (
            "{ scheme = [\"lia\", \"xpm\"] }",
            id,
            "{ scheme = \"{",
            "c-xpm: there is no scheme `xpm`; did you mean `xmp`?",
        ),
        ("{ scheme = [\"lia\", 3] }", id, "3", "expected a string, found 3"),
        ("{ scheme = [\"lia\", \"lia\"] }", id, "\"c-{scheme}\"", "c-lia: another claim has this name"),
        (
            "{ scheme = [[\"lia\"]] }",
            id,
            "\"c-{scheme}\"",
            "`{scheme}` is not a text, so it must be the whole value, \"{scheme}\"",
        ),
        (
            "{ scheme = [\"lia\", \"xmp\"], verdict = [{ scheme = \"lia\", below = 9 }] }",
            id,
            "[{ scheme = \"lia\", below",
            "none of the values is for scheme = \"xmp\"",
        ),
        (
            "{ scheme = [\"lia\"], verdict = [{ scheme = \"lia\" }, { scheme = \"xmp\" }] }",
            id,
            "\"xmp\"",
            "there is no claim of scheme = \"xmp\"",
        ),
    ] {
        refused(&format!("[[claims]]\nfor_each = {for_each}\n{more}\n{of}\n{REST}"), place, message);
    }
    let block = "[[claims]]\nfor_each.scheme = [\"lia\", \"xmp\"]\n";
    let below = format!("[[claims.each]]\nfor_each.scheme = \"lai\"\n{id}\n{of}\n{REST}");
    refused(&format!("{block}{below}"), "\"lia\"", "there is no claim of scheme = \"lia\"");
    refused(
        &format!("{block}sorce = \"s\"\n[[claims.each]]\n{id}\n{of}\n{REST}"),
        "sorce",
        "unknown key `sorce`",
    );
    refused(&format!("{block}each = 3"), "3", "expected claims, as `[[claims.each]]`");
    refused(&format!("{block}each = []"), "[]", "expected claims, as `[[claims.each]]`");
}

#[test]
fn what_is_wrong_with_same_as_has_its_place() {
    let claim = |id: &str, because: &str| {
        let because = if because.is_empty() { String::new() } else { format!("because = {because}\n") };
        format!("[[claims]]\nid = \"{id}\"\nof = {{ scheme = \"xmp\" }}\n{REST}{because}")
    };
    for (because, place, message) in [
        ("{ same_as = \"frist\" }", "{ same_as", "mine: there is no claim `frist`; did you mean `first`?"),
        ("{ same_as = \"mine\" }", "{ same_as", "mine: this is the claim itself"),
        ("{ same_as = \"plain\" }", "{ same_as", "mine: `plain` has no `because`"),
        (
            "{ same_as = \"next\" }",
            "{ same_as",
            "mine: `next` takes its `because` from another claim: name that one",
        ),
        ("{ same = \"first\" }", "{ same", "expected a sentence, or { same_as = \"the id of a claim\" }"),
        ("3", "3", "expected a string, found 3"),
    ] {
        let others = [claim("first", "\"r\""), claim("next", "{ same_as = \"first\" }"), claim("plain", "")];
        refused(&format!("{}{}", others.concat(), claim("mine", because)), place, message);
    }
}
