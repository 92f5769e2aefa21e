//! Path managers, by what they declare and by what they do.

mod declarations;
mod machines;
mod score;
mod table;
