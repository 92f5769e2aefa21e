//! Released files agree on one version, and name existing files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::root;

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The value of the first line `KEY SEPARATOR VALUE` of a file, without quotes.
fn value(file: &str, key: &str) -> String {
    let text = read(file);
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let line = line.unwrap_or_else(|| panic!("{file} has no line `{key}`"));
    line.trim_matches(|c: char| c.is_whitespace() || "=:\"".contains(c)).to_owned()
}

#[test]
fn one_version_stands_everywhere() {
    let version = value("Cargo.toml", "version");
    assert_eq!(value("CITATION.cff", "version"), version);
    let date = value("CITATION.cff", "date-released");
    let heading = format!("\n## {version}, {date}\n");
    assert!(read("CHANGELOG.md").contains(&heading), "CHANGELOG.md has no heading `{}`", heading.trim());
    // maturin takes the package's version from Cargo.toml.
    assert_eq!(value("pyproject.toml", "dynamic"), "[\"version\"]");
    let package = format!("tresse_{version}-1_amd64.deb");
    assert!(read("docs/daemon.md").contains(&package), "docs/daemon.md does not install {package}");
}

/// The files below these folders that a script names; a `*` matches the rest of a name.
fn named(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'()=`;:,".contains(c));
    let folders = ["packaging/", "scripts/", "docs/", "crates/"];
    words.filter(|word| folders.iter().any(|folder| word.starts_with(folder))).collect()
}

fn is_there(path: &str) -> bool {
    let file = root().join(path.trim_end_matches('.'));
    match path.split_once('*') {
        None => file.exists(),
        Some((before, _)) => root().join(Path::new(before).parent().expect("a folder")).is_dir(),
    }
}

#[test]
fn scripts_name_files_that_are_there() {
    let mut wrong = String::new();
    let scripts = ["scripts/distribution", "scripts/release", "scripts/deb", "scripts/wheel", "Makefile"];
    for file in [&scripts[..], &["packaging/Containerfile", "packaging/ci/action.yml"]].concat() {
        for path in named(&read(file)).into_iter().filter(|path| !path.contains('$') && !is_there(path)) {
            wrong += &format!("{file}: {path} is not there\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_action_and_the_image_have_what_they_name() {
    let action = read("packaging/ci/action.yml");
    let scripts: Vec<_> = action.split("$GITHUB_ACTION_PATH/").skip(1).collect();
    assert_eq!(scripts.len(), 2, "it installs and it checks");
    for script in scripts {
        let name = script.split('"').next().expect("a quoted path");
        let file = root().join("packaging/ci").join(name);
        let mode =
            fs::metadata(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display())).permissions().mode();
        assert_ne!(mode & 0o111, 0, "{} can be started", file.display());
    }
    // The image copies the files that the release's script puts into its folder.
    let (image, release) = (read("packaging/Containerfile"), read("scripts/release"));
    for line in image.lines().filter(|line| line.starts_with("ADD ") || line.starts_with("COPY ")) {
        let source = line.split(' ').nth(1).expect("what is copied");
        assert!(
            release.contains(&format!("\"$context/{source}\"")),
            "scripts/release does not make {source}"
        );
    }
}

#[test]
fn libraries_have_the_licences_that_are_allowed() {
    let licences = |file: &str, key: &str| {
        let text = read(file);
        let list = text.split_once(&format!("\n{key} = [")).expect("a list").1.split(']').next();
        let list = list.expect("it ends").split(',').map(|name| name.trim().to_owned());
        list.filter(|name| !name.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(licences("packaging/licences/about.toml", "accepted"), licences("deny.toml", "allow"));
}
