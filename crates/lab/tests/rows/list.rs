//! The 58 rows of the catalogue's section B, and where each is written down.

/// Where a row is.
pub enum Where {
    /// An experiment in this folder.
    Row(&'static str),
    /// A built-in experiment.
    BuiltIn(&'static str),
    /// A model or arithmetic: a test elsewhere, and what stands there.
    Test(&'static str, &'static str),
    /// A qualitative summary of what these rows measure.
    Summary(&'static [&'static str]),
}

use Where::{BuiltIn, Row, Summary, Test};

/// By the catalogue's names.
pub const ROWS: &[(&str, Where)] = &[
    ("xmp/fig1", Row("xmp/fig1")),
    ("xmp/fig4", Row("xmp/fig4")),
    ("xmp/fig6", Row("xmp/fig6")),
    ("xmp/fig7", Row("xmp/fig7")),
    ("xmp/table1", Row("xmp/table1")),
    ("xmp/fig8", Row("xmp/table1")),
    ("xmp/table2", Row("xmp/table2")),
    ("xmp/table3", Row("xmp/table1")),
    ("xmp/fig9", Row("xmp/table1")),
    ("xmp/fig10", Row("xmp/table1")),
    ("xmp/fig11", Row("xmp/table1")),
    ("opn/fig2", BuiltIn("opn/fig2")),
    ("opn/fig3", BuiltIn("opn/fig3")),
    ("opn/fig4", BuiltIn("opn/fig4")),
    ("opn/fig6", Test("crates/optimum/tests/opn.rs", "opn_fig6_T.csv")),
    ("opn/fig7", Test("crates/optimum/tests/opn.rs", "opn_nstar_table.csv")),
    ("opn/fig10", Row("opn/fig10")),
    ("opn/fig11", Row("opn/fig11")),
    ("opn/fig12", Row("opn/fig12")),
    ("opn/table2", Test("crates/lab/tests/rows/opn.rs", "fn table_2_")),
    ("opn/fig13", Row("opn/fig13")),
    ("opn/fig15", Row("opn/fig15")),
    ("opn/fig16", Row("opn/fig16")),
    ("opn/fig17", Row("opn/fig17")),
    ("dcm/coexist-xmp", Row("dcm/coexist")),
    ("dcm/coexist-dcm", Row("dcm/coexist")),
    ("dcm/shift", Row("dcm/shift")),
    ("dcm/fairness", Row("dcm/fairness")),
    ("dcm/exp1", Row("dcm/exp1")),
    ("dcm/exp2", Row("dcm/exp2")),
    ("dcm/exp3", Row("dcm/exp3")),
    ("dcm/incast-summary", Row("dcm/exp3")),
    ("holnet/fig2.3-1", Row("holnet/fig2.3-1")),
    ("holnet/fig2.3-2", Row("holnet/fig2.3-2")),
    ("holnet/fig2.4", Row("holnet/fig2.4")),
    ("holnet/fig2.5", Row("holnet/fig2.5")),
    ("holnet/fig3.1", Summary(&["holnet/fig3.3", "holnet/fig3.4", "holnet/fig3.5", "holnet/fig3.6"])),
    ("holnet/fig3.3", Row("holnet/fig3.3")),
    ("holnet/table3.2", Row("holnet/table3.2")),
    ("holnet/fig3.4", Row("holnet/fig3.4")),
    ("holnet/table3.3", Row("holnet/fig3.4")),
    ("holnet/fig3.5", Row("holnet/fig3.5")),
    ("holnet/fig3.6", Row("holnet/fig3.6")),
    ("holnet/table3.4", Summary(&["holnet/table3.2", "holnet/table3.3", "holnet/fig3.5", "holnet/fig3.6"])),
    ("holnet/table4.1", Test("crates/optimum/tests/num/thesis.rs", "Table 4.1")),
    ("holnet/table4.2", Summary(&["holnet/fig4.3", "holnet/fig4.4", "holnet/fig4.5"])),
    ("holnet/fig4.3", Row("holnet/fig4.3")),
    ("holnet/fig4.4", Row("holnet/fig4.4")),
    ("holnet/fig4.5", Row("holnet/fig4.5")),
    ("holnet/fig5.1", Test("crates/controllers/tests/checks/odctcp.rs", "both sides of alpha = 0.5")),
    ("vmcc/fig2", Row("vmcc/fig2")),
    ("vmcc/fig4", Row("vmcc/fig4")),
    ("vmcc/fig5", Row("vmcc/fig5")),
    ("vmcc/fig7", Row("vmcc/fig7")),
    ("vmcc/fig9", Row("vmcc/fig9")),
    ("vmcc/fig10", Row("vmcc/fig10")),
    ("vmcc/table3", BuiltIn("vmcc/table3")),
    ("vmcc/table4", BuiltIn("vmcc/table3")),
];
