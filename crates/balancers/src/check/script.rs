//! A script of events of a connection.

use std::fmt;

use crate::Feedback;

/// The events of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The number of its paths.
    pub paths: u32,
    /// Names its random numbers.
    pub stream: u64,
    /// In order, at one instant except for waits.
    pub events: Vec<Event>,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A packet is sent.
    Pick,
    /// The fate of a packet.
    Feedback {
        /// Which packet.
        of: ReportedPacket,
        /// Its fate.
        what: Feedback,
    },
    /// Time passes.
    Wait {
        /// This long.
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
pub enum ReportedPacket {
    /// One that took this path.
    Path(u32),
    /// The one that was sent this many before the last one. If there is none, nothing is reported.
    Ago(u32),
}

impl Script {
    /// One line per event; packets with the paths that they took, as far as known.
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, picks: &[u32]) -> fmt::Result {
        writeln!(f, "paths {}\nstream {}", self.paths, self.stream)?;
        let mut picks = picks.iter();
        for event in &self.events {
            match event {
                Event::Pick => match picks.next() {
                    Some(path) => writeln!(f, "pick # path {path}")?,
                    None => writeln!(f, "pick")?,
                },
                Event::Feedback { of: ReportedPacket::Path(path), what } => {
                    writeln!(f, "{} path={path}", what.name())?
                }
                Event::Feedback { of: ReportedPacket::Ago(0), what } => writeln!(f, "{}", what.name())?,
                Event::Feedback { of: ReportedPacket::Ago(ago), what } => {
                    writeln!(f, "{} ago={ago}", what.name())?
                }
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
