//! What happens to a connection, as a script.

use std::fmt;

use crate::Feedback;

/// What happens to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The paths that it has.
    pub paths: u32,
    /// Names its random numbers.
    pub stream: u64,
    /// One after the other, at one instant but for what waits.
    pub events: Vec<Event>,
}

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A packet is sent.
    Pick,
    /// What became of a packet.
    Feedback {
        /// Of which.
        of: Of,
        /// What.
        what: Feedback,
    },
    /// Time passes.
    Wait {
        /// So much.
        ns: u64,
    },
    /// The congestion window changes; it is 1 at first.
    Window {
        /// To this many packets.
        packets: u32,
    },
}

/// Which packet is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// One that took this path.
    Path(u32),
    /// The one that was sent so many before the last one. If that is before the first one, nothing
    /// is reported.
    Ago(u32),
}

impl Script {
    /// One line an event; packets with the paths that they took, as far as these are known.
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, picks: &[u32]) -> fmt::Result {
        writeln!(f, "paths {}\nstream {}", self.paths, self.stream)?;
        let mut picks = picks.iter();
        for event in &self.events {
            match event {
                Event::Pick => match picks.next() {
                    Some(path) => writeln!(f, "pick # path {path}")?,
                    None => writeln!(f, "pick")?,
                },
                Event::Feedback { of: Of::Path(path), what } => writeln!(f, "{} path={path}", what.name())?,
                Event::Feedback { of: Of::Ago(0), what } => writeln!(f, "{}", what.name())?,
                Event::Feedback { of: Of::Ago(ago), what } => writeln!(f, "{} ago={ago}", what.name())?,
                Event::Wait { ns } => writeln!(f, "wait {ns}ns")?,
                Event::Window { packets } => writeln!(f, "window {packets}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &[])
    }
}
