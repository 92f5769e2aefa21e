//! Rules for all pages: links lead somewhere, and no page is too long to read.

mod links;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use links::broken;
use tempfile::TempDir;

/// Words that a page may have.
const MOST_WORDS: usize = 3000;

/// Folders that are not the project's own, or have no pages.
const ELSEWHERE: [&str; 6] = [".git", "dist", "node_modules", "runs", "sweeps", "target"];

/// Pages that a script fills in and writes to `docs/`: their links start there.
const TEMPLATES: [&str; 2] = ["validation/page.md", "validation/twin/page.md"];

/// Grows with every version, and is read from the top.
const LONG: &str = "CHANGELOG.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages below `folder`, by their paths from `root`.
fn pages(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(root.join(folder)).expect("a folder of the project") {
        let entry = entry.expect("it can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = folder.join(&name);
        if entry.path().is_dir() {
            if !ELSEWHERE.contains(&&*name) {
                pages.extend(self::pages(root, &path));
            }
        } else if name.ends_with(".md") && !TEMPLATES.iter().any(|template| path == Path::new(template)) {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// The first page of the site, which is read only there.
const HOME: &str = "docs/index.md";

/// A page that is in git leads only to what is in git, so that its links work where the repository is read. The pages
/// that only the site has, and the site's first page, also lead to those.
#[test]
fn every_link_goes_somewhere() {
    let (root, made) = (root(), TempDir::new().expect("a temporary folder"));
    let make = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("pages").arg(made.path()).output();
    let make = make.expect("xtask starts");
    assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
    let in_git = pages(&root, Path::new(""));
    let of_site = pages(made.path(), Path::new(""));
    let mut wrong: Vec<String> = Vec::new();
    for page in &in_git {
        let roots = [&*root, made.path()];
        wrong.extend(broken(if page == Path::new(HOME) { &roots } else { &roots[..1] }, page));
    }
    wrong.extend(of_site.iter().flat_map(|page| broken(&[made.path(), &root], page)));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(in_git.len() > 60, "only {} pages are found", in_git.len());
    assert!(of_site.len() > 20, "only {} pages are made", of_site.len());
}

#[test]
fn no_page_is_too_long() {
    let root = root();
    let mut long = String::new();
    for page in pages(&root, Path::new("")).iter().filter(|page| **page != Path::new(LONG)) {
        let words = fs::read_to_string(root.join(page)).expect("it can be read").split_whitespace().count();
        if words > MOST_WORDS {
            long += &format!("{}: {words} words\n", page.display());
        }
    }
    assert!(long.is_empty(), "more than {MOST_WORDS} words:\n{long}");
}

#[test]
fn a_broken_link_is_found() {
    let dir = tempfile::TempDir::new().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    };
    write("docs/other.md", "# A `few` words, so_called\n\n<a id=\"here\"></a>\n\n## Twice\n\n## Twice\n");
    write("docs/file.toml", "");
    let wrong_in = |text: &str| {
        write("docs/page.md", text);
        broken(&[dir.path()], Path::new("docs/page.md"))
    };
    let right = "# Page\n\n[a](other.md#a-few-words-so_called) [b](other.md#here), [c](#page), [d](../docs),\n\
        [e](file.toml) [f](other.md#twice-1) [g](https://example.org/none.md) x[r](w+x)\n\n    [code](none.md)\n\n\
        ```\n[code](none.md)\n```\n\n`[code](none.md)`\n";
    assert_eq!(wrong_in(right), Vec::<String>::new());
    assert_eq!(wrong_in("\n- [a](none.md)\n"), ["docs/page.md:2: none.md: no such file"]);
    assert_eq!(wrong_in("[a](other.md#none)"), ["docs/page.md:1: other.md#none: no such place in it"]);
    assert_eq!(wrong_in("[a](#none)"), ["docs/page.md:1: #none: no such place in it"]);
    assert_eq!(wrong_in("[a](../../outside.md)"), ["docs/page.md:1: ../../outside.md: no such file"]);
}
