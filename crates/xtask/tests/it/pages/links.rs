//! The links of a page, and the possible targets of links.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The links of `file` to files and places that do not exist, one line for each. One of `roots` contains the file, and
/// everything that a link may name.
pub fn broken(roots: &[&Path], file: &Path) -> Vec<String> {
    let find = |path: &Path| roots.iter().map(|root| root.join(path)).find(|path| path.exists());
    let text = fs::read_to_string(find(file).expect("a page")).expect("it can be read");
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut wrong = Vec::new();
    for (line, target) in links(&text) {
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let to = if path.is_empty() { Some(file.to_owned()) } else { joined(folder, path) };
        let what = match to.and_then(|to| find(&to)) {
            None => "no such file",
            Some(_) if anchor.is_empty() => continue,
            Some(to) => {
                let is_page = to.extension().is_some_and(|e| e == "md");
                let page = if is_page { fs::read_to_string(to) } else { Ok(String::new()) };
                match places(&page.expect("it can be read")).contains(anchor) {
                    true => continue,
                    false => "no such place in it",
                }
            }
        };
        wrong.push(format!("{}:{line}: {target}: {what}", file.display()));
    }
    wrong
}

/// The path from the repository's folder, if it is below that.
fn joined(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut all = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::Normal(part) => all.push(part),
            Component::ParentDir => {
                all.pop().then_some(())?;
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(all)
}

/// The lines of text, neither in a fence nor indented as code, with their numbers, and without inline code.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fence: Option<String> = None;
    let mut is_code = false;
    let mut was_empty = true;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let start = line.trim_start();
        let mark: String = start.chars().take_while(|c| ['`', '~'].contains(c)).collect();
        let is_mark = mark.len() >= 3;
        let was_in_fence = fence.is_some();
        match &fence {
            Some(open) if is_mark && mark.starts_with(open.as_str()) => fence = None,
            None if is_mark => fence = Some(mark),
            _ => {}
        }
        is_code = line.starts_with("    ") && (was_empty || is_code) && !start.starts_with(['-', '*']);
        was_empty = line.is_empty();
        (!was_in_fence && !is_mark && !is_code).then(|| (i + 1, without_code(line)))
    })
}

/// The line with its code spans empty.
fn without_code(line: &str) -> String {
    let mut text = String::new();
    for (i, part) in line.split('`').enumerate() {
        text += if i % 2 == 0 { part } else { "``" };
    }
    text
}

/// The links to files and places, with their lines: no addresses.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (line, prose) in prose(text) {
        for rest in prose.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            // A file or a place: not an address, and not brackets in a formula.
            let is_own = |c: char| c.is_ascii_alphanumeric() || "./#_-".contains(c);
            if !target.is_empty() && target.chars().all(is_own) {
                links.push((line, target.to_owned()));
            }
        }
    }
    links
}

/// The places of a page: its headings, by GitHub's names, and its anchors.
fn places(text: &str) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    for rest in text.split("<a id=\"").skip(1) {
        places.insert(rest.split('"').next().unwrap_or_default().to_owned());
    }
    let mut is_in_fence = false;
    for line in text.lines() {
        is_in_fence ^= line.starts_with("```");
        let level = line.len() - line.trim_start_matches('#').len();
        let Some(heading) = line[level..].strip_prefix(' ').filter(|_| level > 0 && !is_in_fence) else {
            continue;
        };
        let is_kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        let slug: String = heading.trim().to_lowercase().chars().filter(is_kept).collect();
        let slug = slug.replace(' ', "-");
        let mut own = slug.clone();
        let mut n = 0;
        while !places.insert(own) {
            n += 1;
            own = format!("{slug}-{n}");
        }
    }
    places
}
