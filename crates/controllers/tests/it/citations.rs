//! What the project's files cite is there: keys of papers/catalogue.md and the pages below it ("catalogue S10", "catalogue 0.12"), and
//! the rules of CONTRIBUTING.md ("design rule 4").

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that have comments, and the pages.
const EXTENSIONS: [&str; 8] = ["c", "h", "md", "py", "rs", "sh", "toml", "ts"];

/// Folders that are not the project's own, or have no source in them.
const ELSEWHERE: [&str; 4] = [".git", "node_modules", "runs", "target"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it is there")
}

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("the page is there")
}

/// Calls `look` with the text of every file below `folder`.
fn each_file(folder: &Path, look: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("a folder of the project").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !ELSEWHERE.contains(&&*name) {
                each_file(&path, look);
            }
        } else if path.extension().is_none_or(|e| EXTENSIONS.iter().any(|known| e == *known)) {
            // Not every file without an extension is a text.
            if let Ok(text) = fs::read_to_string(&path) {
                look(&path, &text);
            }
        }
    }
}

/// The words of `text` with their lines, across the ends of a comment's lines.
fn words(text: &str) -> Vec<(usize, &str)> {
    let lines = text.lines().enumerate();
    let words = lines.flat_map(|(i, line)| line.split_whitespace().map(move |word| (i + 1, word)));
    words.filter(|(_, word)| !["*", "//", "///", "//!", "#"].contains(word)).collect()
}

fn number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether `text` looks like a key of the catalogue: S10, A6.1, B4, D3, a section's letter, 0.12, or an
/// experiment.
fn is_key(text: &str) -> bool {
    let digits = |text: &str| text.split('.').all(number);
    text.strip_prefix(['A', 'B', 'C', 'D', 'S']).is_some_and(|rest| rest.is_empty() || digits(rest))
        || text.strip_prefix("0.").is_some_and(number)
        || ["xmp/", "opn/", "dcm/", "holnet/", "vmcc/"].iter().any(|paper| text.starts_with(paper))
}

/// What `text` cites of the catalogue, with the line: the keys that follow the word.
fn cited_keys(text: &str) -> Vec<(usize, String)> {
    let words = words(text);
    let is_word = |word: &str| {
        let word = word.trim_start_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
        ["catalogue", "catalogue,", "catalogue:"].contains(&&*word)
    };
    let mut found = Vec::new();
    for (i, _) in words.iter().enumerate().filter(|(_, (_, word))| is_word(word)) {
        for &(line, word) in &words[i + 1..] {
            let parts = word.split('-').map(|part| part.trim_matches(|c: char| !c.is_alphanumeric()));
            let keys: Vec<_> = parts.filter(|part| is_key(part)).collect();
            if keys.is_empty() && !["and", "note", "row", "rows", "to"].contains(&word) {
                break;
            }
            found.extend(keys.into_iter().map(|key| (line, key.to_owned())));
            // Another key may follow a comma, "and" or "to"; a sentence or a parenthesis ends.
            if word.ends_with(['.', ')', ';', ':', '"']) {
                break;
            }
        }
    }
    found
}

/// The rules that `text` cites by their numbers, with the line.
fn cited_rules(text: &str) -> Vec<(usize, String)> {
    let words = words(text);
    let pairs = words.windows(2).filter(|pair| ["rule", "rules"].contains(&pair[0].1.trim_matches('(')));
    let cited = pairs.map(|pair| (pair[1].0, pair[1].1.trim_end_matches(|c: char| !c.is_alphanumeric())));
    cited.filter(|(_, rule)| number(rule)).map(|(line, rule)| (line, rule.to_owned())).collect()
}

/// The numbers of the list's items in `lines`.
fn items<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    lines.filter_map(|line| line.split_once(". ")).map(|(n, _)| n.to_owned()).filter(|n| number(n))
}

/// The catalogue's keys: its headings, the first cells of its tables, the decisions of its section 0, and the
/// defaults D1, D2 … in bold.
fn catalogue() -> BTreeSet<String> {
    let folder = fs::read_dir(root().join("papers/catalogue")).expect("it is there");
    let below = folder.map(|entry| fs::read_to_string(entry.expect("it can be read").path()));
    let below: String = below.map(|page| page.expect("it can be read")).collect();
    let page = page("papers/catalogue.md") + &below;
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    let headings = headings.filter_map(|line| line.trim_start_matches(['#', ' ']).split_whitespace().next());
    let rows = page.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    let bold = page.split("**").filter(|text| text.starts_with('D'));
    let keys = headings.chain(rows).chain(bold).map(|key| key.trim_matches(['*', ' ', '.']));
    let decisions = page
        .lines()
        .skip_while(|line| !line.starts_with("## 0."))
        .skip(1)
        .take_while(|line| !line.starts_with("## "));
    let decisions = items(decisions).map(|n| format!("0.{n}"));
    keys.filter(|key| is_key(key)).map(str::to_owned).chain(decisions).collect()
}

/// The numbers of the house rules.
fn rules() -> BTreeSet<String> {
    let page = page("CONTRIBUTING.md");
    let rules = page.lines().skip_while(|line| *line != "## House rules").skip(1);
    items(rules.take_while(|line| !line.starts_with("## "))).collect()
}

#[test]
fn what_is_cited_is_there() {
    let (catalogue, rules) = (catalogue(), rules());
    let (mut cited, mut missing) = (0, Vec::new());
    each_file(&root(), &mut |path, text| {
        let keys = cited_keys(text)
            .into_iter()
            .map(|c| (c, &catalogue, "papers/catalogue.md and papers/catalogue/ have no"));
        let numbers = cited_rules(text).into_iter().map(|c| (c, &rules, "CONTRIBUTING.md has no rule"));
        for ((line, key), known, has_not) in keys.chain(numbers) {
            cited += 1;
            if !known.contains(&key) {
                missing.push(format!("{}:{line}: {has_not} {key}", path.display()));
            }
        }
    });
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(cited > 200, "only {cited} citations are found");
}

#[test]
fn citations_are_read_as_people_read_them() {
    // The words stand apart, or these would be citations themselves.
    let keys = |text: &str| -> Vec<String> {
        let text = text.replace("CAT", "catalogue");
        cited_keys(&text).into_iter().map(|(_, key)| key).collect()
    };
    assert_eq!(keys("Source: RFC 1; CAT S15, S16 and A6.3. T is"), ["S15", "S16", "A6.3"]);
    assert_eq!(keys(" * the CAT\n * (S4, S10) has D1"), ["S4", "S10"]);
    assert_eq!(keys("(CAT, note A6.5), CAT D1-D6 and CAT D1 to D7"), ["A6.5", "D1", "D6", "D1", "D7"]);
    assert_eq!(keys("CAT 0.3, `queue`; CAT, holnet/table3.3): S1"), ["0.3", "holnet/table3.3"]);
    assert!(keys("the CAT. A flow; the CAT has S10; CAT's 0.5").is_empty());
    let rules = cited_rules(&"(design RULE 4): RULEs 7, RULE = 2".replace("RULE", "rule"));
    assert_eq!(rules, [(1, "4".to_owned()), (1, "7".to_owned())]);
}

#[test]
fn the_pages_have_what_they_say() {
    let (catalogue, rules) = (catalogue(), rules());
    for key in ["S1", "S43", "A", "A1", "A6.5", "B5", "C", "D1", "D7", "0.1", "0.20", "xmp/table1"] {
        assert!(catalogue.contains(key), "{key}");
    }
    for key in ["S44", "A7", "D99", "0.21", "xmp/none"] {
        assert!(!catalogue.contains(key), "{key}");
    }
    assert!(rules.contains("1") && !rules.contains("99"), "{rules:?}");
}
