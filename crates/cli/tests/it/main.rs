//! The command as its users meet it: every test starts the program.

mod bad_input;
mod bench;
mod catalogue;
mod check;
mod common;
mod compare;
mod ended;
mod export;
mod facts;
mod guide;
mod import;
mod linux;
mod mark;
mod mutated;
mod new;
mod optimum;
mod output;
mod page;
mod paper;
mod provenance;
mod run;
mod stops;
mod tables;
mod topology;
mod variants;
mod view;
