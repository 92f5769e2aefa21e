//! The page of the balancers of hosts: the declarations and texts of their files, and nothing else.

use std::fmt::Write as _;

use tresse_balancers::Balancer;
use tresse_workbench::catalogue::host_balancers;

/// `docs/reference/balancers.md`.
pub fn page(balancers: &[Balancer]) -> String {
    let mut page = "# The balancers of hosts\n\n\
        <!-- `cargo xtask pages` writes this page from balancers/*.c. -->\n\n\
        What each file of [balancers/](../../balancers) declares, and the comment at its head: the source, the \
        rules, what\nthe source leaves open, every deviation. `tresse explain NAME` shows the same.\n\
        [balancers.md](../balancers.md) says how to write one.\n\n\
        | balancer | what it is |\n|---|---|\n"
        .to_owned();
    for b in balancers {
        let (name, title) = (b.name(), b.title().replace('|', "\\|"));
        writeln!(page, "| [{name}](#{name}) | {title} |").expect("a string");
    }
    for b in balancers {
        let (facts, header) = (host_balancers::facts(b), host_balancers::header(b));
        write!(page, "\n## {}\n\n{facts}\n{header}", b.name()).expect("a string");
    }
    page
}
