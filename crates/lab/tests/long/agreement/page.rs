//! The tables of fluid models against packets in `validation/optimum/`, each in a page of its own between two lines with its name.

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/optimum");

/// Writes the tables instead of comparing them.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

/// Compares the table `name` with its page's, or writes it.
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the page")]
pub fn section(name: &str, table: &str) {
    let path = format!("{PAGES}/{}.md", name.replace(' ', "-"));
    let (begin, end) = (format!("<!-- {name}: generated -->\n\n"), format!("\n<!-- {name}: end -->"));
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(&begin).expect("the page says where the table begins");
    let (old, after) = rest.split_once(&end).expect("the page says where the table ends");
    if std::env::var(UPDATE).is_ok() {
        std::fs::write(&path, format!("{before}{begin}{table}{end}{after}"))
            .expect("the page can be written");
        return;
    }
    let hint = format!("hint: {UPDATE}=1 cargo test -p tresse-lab --test it agreement writes {path}");
    for (old, new) in old.lines().zip(table.lines()) {
        assert_eq!(old, new, "{hint}");
    }
    assert!(old == table, "{path} has more lines, or fewer\n{hint}");
}
