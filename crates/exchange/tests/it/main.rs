//! Other tools' files, read and written.

mod export;
mod graph_cases;
mod graph_file;
mod import;
