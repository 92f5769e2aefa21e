//! What a page says about its runs, besides their tables. `cargo xtask generate` writes `page/src/data/contract.ts` from
//! these types.

use std::path::Path;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::metrics::{METRICS, MetricRow, OPTIMUM_METRICS, Shown, WINDOW_METRICS};
use tresse_results::record::progress::ProgressFile;
use tresse_results::record::results::AxisValue;
use tresse_results::store::finished::Host;
use tresse_results::{Finished, Report, State};

use crate::figures::Figure;

/// A page of one run, or of several that are compared.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PageHead {
    /// Of this form of the head.
    #[schemars(extend("const" = "tresse/page/1"))]
    pub schema: &'static str,
    /// The version of the program that wrote the page.
    pub version: &'static str,
    pub runs: Vec<RunHead>,
    /// The meanings of the metrics, by name.
    pub metrics: IndexMap<&'static str, MetricInfo>,
}

/// The meaning of a metric.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct MetricInfo {
    /// Its unit in words; empty if it has none.
    pub unit: &'static str,
    /// The meaning in one sentence.
    pub meaning: &'static str,
    /// Its place in tables until the reader chooses others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
}

/// A run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunHead {
    /// Unique among the runs of the page: the name of its folder.
    pub id: String,
    /// The key by which a page requests its tables; only if it is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    pub state: State,
    /// What could not be read, one sentence each: a corrupt table, a missing network.
    pub problems: Vec<String>,
    /// What it measured.
    pub report: Report,
    /// What was run.
    pub experiment: ExperimentHead,
    /// The figure, such as `fig8`, if the run was started under its name: it comes first and is large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// The command line that repeats it.
    pub command: String,
    pub host: Host,
    /// Of a run in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<ProgressFile>,
    /// Every case, including those that are not complete. Tables name a case by its index here.
    pub cases: Vec<CaseHead>,
    /// The published numbers of whole cases and of parts, including windows of time, which `CaseResult.published_by` lacks;
    /// empty if settings have changed the experiment.
    pub published: Vec<PublishedHead>,
    /// The figures that the experiment declares.
    pub figures: Vec<Figure>,
    /// Its tables, by name. Tables that the run does not have and tables without rows are missing.
    pub tables: IndexMap<String, TableHead>,
    /// Usually one; the JSON of number i is the table `network-i`, a `Network`.
    pub networks: Vec<NetworkHead>,
}

/// The published numbers of a case, or of a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PublishedHead {
    /// The axes that it names; it covers every value of each other axis.
    #[schemars(with = "IndexMap<String, AxisValue>")]
    pub case: IndexMap<&'static str, Value>,
    /// The part, if any: `group`, `distance`, `size` or `layer`; or `window`, optionally with a `group` and a
    /// `subflow`.
    #[schemars(with = "IndexMap<String, PartValue>")]
    pub part: IndexMap<&'static str, Value>,
    /// The numbers, by metric.
    pub metrics: IndexMap<String, f64>,
}

/// The name of a part, or the number of a subflow, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum PartValue {
    Name(String),
    Number(f64),
}

/// What was published of an experiment, as its page shows it.
#[derive(Debug, Clone)]
pub struct Published {
    /// Where.
    pub source: String,
    /// Whether there is anything that a run could be judged by.
    pub is_any: bool,
    pub numbers: Vec<PublishedHead>,
}

/// Reads the run in a folder, and what was published of its experiment: this crate knows only the figures.
pub type ReadRun = fn(&Path) -> Result<(Finished, Published), Diagnostic>;

/// What was run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExperimentHead {
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// What a reader needs to know.
    pub about: String,
    /// As it was run, as TOML.
    pub resolved: String,
    /// The same as JSON, without what is only read or judged by.
    #[schemars(with = "IndexMap<String, Setting>")]
    pub keys: toml::Table,
    /// Where its published numbers come from; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub published_source: String,
    /// Whether it has published numbers or claims.
    pub is_published: bool,
}

/// A value of a key, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Setting {
    Text(String),
    Number(f64),
    Switch(bool),
    List(Vec<Setting>),
    Table(IndexMap<String, Setting>),
}

/// A case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseHead {
    /// By axis: scheme, subflows, pattern, variant and the experiment's own. No number of subflows: the path manager decides.
    #[schemars(with = "IndexMap<String, AxisValue>")]
    pub case: IndexMap<String, Value>,
    /// `xmp-2 permutation`
    pub label: String,
    /// `xmp-2`
    pub scheme: String,
    /// Its index in the report; `None` if it is not complete.
    pub result: Option<usize>,
}

/// A table of a run, as on the page.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TableHead {
    /// Rows in the page.
    pub rows: usize,
    /// Rows of the run's own table.
    pub rows_of_run: usize,
    /// How the page's rows were made from the run's, if there are fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinned: Option<String>,
    pub columns: Vec<ColumnHead>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ColumnHead {
    pub name: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// The meaning in one sentence.
    pub meaning: String,
}

/// A network of a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NetworkHead {
    /// The cases that are run on it, as indexes in `RunHead.cases`.
    pub cases: Vec<usize>,
    /// The name of its topology.
    pub topology: String,
    pub hosts: u32,
    /// Its nodes, including hosts.
    pub nodes: u32,
    /// Its ports: two for each link.
    pub ports: usize,
}

impl PageHead {
    /// The head for these runs.
    pub fn new(runs: Vec<RunHead>) -> Self {
        let info = |row: &MetricRow| {
            (row.name, MetricInfo { unit: row.unit, meaning: row.meaning, shown: row.shown })
        };
        let all = OPTIMUM_METRICS.iter().chain(WINDOW_METRICS).chain(METRICS);
        let metrics = all.map(info).collect();
        Self { schema: "tresse/page/1", version: env!("CARGO_PKG_VERSION"), runs, metrics }
    }
}
