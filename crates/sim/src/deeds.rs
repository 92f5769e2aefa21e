//! What the caller does at hosts in a window that has not been gone through. It is done when their turns come.

use tresse_fabric::{AFTER_PACKETS, Rank, Timer};
use tresse_units::Time;

use crate::part::Part;
use crate::path_management::Unopened;
use crate::spec::FlowRecord;

/// Something that the caller does at a host.
#[derive(Debug)]
pub(crate) struct Deed {
    /// When, and after what of that instant.
    pub time: Time,
    pub rank: Rank,
    /// The slot of the sending half.
    pub slot: u32,
    pub what: What,
}

/// What it does there.
#[derive(Debug)]
pub(crate) enum What {
    /// A connection begins.
    Launch(Unopened),
    /// Its message has arrived; its record gets this number.
    End(u32),
    /// A persistent connection gets one more message of so many bytes.
    Append(u64),
}

/// The deeds of a window in a part, and the records of messages that have ended in it, by number.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    /// How far the window is open site by site: before this time.
    pub open: Time,
    todo: Vec<Option<Deed>>,
    pub records: Vec<(u32, FlowRecord)>,
    /// Messages that have ended.
    pub ended: u32,
}

impl Deeds {
    pub fn add(&mut self, deed: Deed) {
        self.todo.push(Some(deed));
    }

    pub fn is_empty(&self) -> bool {
        self.todo.is_empty()
    }

    /// The timer of the deed in this place; its host has this site.
    pub fn timers(&self, site: impl Fn(u32) -> u32) -> impl Iterator<Item = Timer> {
        let timer = move |(place, deed): (u32, &Option<Deed>)| {
            let &Deed { time, rank, slot, .. } = deed.as_ref()?;
            Some(Timer { time, rank, number: AFTER_PACKETS | place, site: site(slot) })
        };
        (0..).zip(&self.todo).filter_map(timer)
    }

    /// Forgets those that are done.
    pub fn clear(&mut self) {
        debug_assert!(self.todo.iter().all(Option::is_none), "all deeds of a window are done");
        self.todo.clear();
    }
}

impl Part {
    /// Does what the timer of this number stands for.
    pub fn do_deed(&mut self, number: u32) {
        let place = (number & !AFTER_PACKETS) as usize;
        let Deed { slot, what, .. } = self.deeds.todo[place].take().expect("a deed is done once");
        match what {
            What::Launch(unopened) => self.launch(slot, &unopened),
            What::End(number) => {
                let record = self.end_sending(slot);
                self.deeds.records.push((number, record));
            }
            What::Append(bytes) => {
                self.sendings[slot as usize].sender.append(bytes);
                self.transmit(slot);
            }
        }
    }

    /// A connection begins now.
    pub fn launch(&mut self, slot: u32, unopened: &Unopened) {
        self.give_manager(slot, unopened);
        self.manage(slot, |_, _, _| ());
        self.transmit(slot);
    }
}
