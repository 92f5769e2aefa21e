//! Path managers: their declarations and their behaviour.

mod declarations;
mod machines;
mod score;
mod table;
