//! A network whose messages come from outside: against the lab's own runs, and through the C interface.

mod from_c;
mod simulation;
