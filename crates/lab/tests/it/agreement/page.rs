//! The tables of `docs/optimum.md` that these tests own, each between two lines with its name.

use std::sync::Mutex;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/optimum.md");

/// Writes the tables instead of comparing them.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

/// One test at a time reads and writes the page.
static TURN: Mutex<()> = Mutex::new(());

/// Compares the table `name` with the page's, or writes it.
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the page")]
pub fn section(name: &str, table: &str) {
    let _turn = TURN.lock();
    let (begin, end) = (format!("<!-- {name}: generated -->\n\n"), format!("\n<!-- {name}: end -->"));
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let (before, rest) = page.split_once(&begin).expect("the page says where the table begins");
    let (old, after) = rest.split_once(&end).expect("the page says where the table ends");
    if std::env::var(UPDATE).is_ok() {
        std::fs::write(PAGE, format!("{before}{begin}{table}{end}{after}")).expect("the page can be written");
        return;
    }
    let hint =
        format!("hint: {UPDATE}=1 cargo test -p tresse-lab --test it agreement writes docs/optimum.md");
    for (old, new) in old.lines().zip(table.lines()) {
        assert_eq!(old, new, "{hint}");
    }
    assert!(old == table, "docs/optimum.md has more lines, or fewer\n{hint}");
}
