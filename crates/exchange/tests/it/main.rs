//! Other tools' files, read and written.

mod graph_file;
mod import;
