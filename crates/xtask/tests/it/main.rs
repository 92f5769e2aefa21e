//! What holds for the repository as a whole.

mod generated;
mod pages;
mod structure;
