//! A case whose messages come from another program, one by one, while it runs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tresse_experiment::Diagnostic;
use tresse_experiment::plan::Case;
use tresse_experiment::schema::fidelity::Fidelity;
use tresse_sim::{Ahead, FlowRecord, Manager};
use tresse_units::{NEVER, Time};
use tresse_workload::{Start, too_large};

use crate::engine::stall::{self, Stall, Why};
use crate::link_events::{Links, make};
use crate::network::Network;
use crate::setup;
use tresse_results::record::flow::Begun;

/// A network in simulated time that carries messages.
#[derive(Debug)]
pub struct Embedded {
    case: Case,
    seed: u64,
    managers: Vec<Manager>,
    world: Box<dyn Network>,
    /// The number of changes of links that were made.
    changed: usize,
    stall: Stall,
    /// The messages that have not arrived, by number.
    live: BTreeMap<u64, Begun>,
    /// The number of the next message.
    next: u64,
    /// The persistent connections, by hosts: the number of their first message.
    lasting: BTreeMap<[u32; 3], u64>,
}

impl Embedded {
    /// The network of `case` under `seed`, empty at time 0, on up to `threads` threads, which do not affect the
    /// results; by rounds on one. `persistent`: messages from one host to another share a connection. `None` if the case has
    /// several schemes.
    pub fn new(case: Case, persistent: bool, seed: u64, threads: usize) -> Option<Self> {
        let case = case.of_messages(persistent)?;
        let world: Box<dyn Network> = match case.setting.fidelity {
            Fidelity::Packets => Box::new(setup::world(&case, seed, threads)),
            Fidelity::Rounds => Box::new(setup::rounds(&case, seed)),
        };
        let mut own = Self {
            seed,
            managers: setup::managers(&case),
            stall: Stall::new(&*world, case.setting.options.pauses()),
            world,
            changed: 0,
            live: BTreeMap::new(),
            next: 0,
            lasting: BTreeMap::new(),
            case,
        };
        own.change();
        Some(own)
    }

    /// Simulated time, ps.
    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// How many hosts there are; they are numbered from 0.
    pub fn hosts(&self) -> u32 {
        self.case.setting.fabric.hosts()
    }

    /// The number of messages that are on their way.
    pub fn in_flight(&self) -> usize {
        self.live.len()
    }

    /// Host `from` starts to send `bytes` to host `to`. Returns the number of the message, from 0 in the order of
    /// the calls.
    ///
    /// # Errors
    /// If there is no such host, or both are the same; if the message is empty, or has more than 2^32 - 1 segments.
    pub fn send(&mut self, from: u32, to: u32, bytes: u64) -> Result<u64, Diagnostic> {
        let wrong = |message: String| Diagnostic::input(message).of(format!("message from {from} to {to}"));
        let hosts = self.hosts();
        if let Some(host) = [from, to].into_iter().find(|&host| host >= hosts) {
            return Err(wrong(format!("there is no host {host}: hosts are 0 to {}", hosts - 1)));
        }
        let most = u64::from(u32::MAX) * u64::from(self.case.bound_schemes[0].transport.mss);
        match bytes {
            _ if from == to => return Err(wrong("a host does not send to itself over the network".into())),
            0 => return Err(wrong("it has no bytes".into())),
            _ if bytes > most => return Err(wrong(too_large(bytes, most))),
            _ => {}
        }
        let id = self.next;
        self.next += 1;
        let start = Start { name: id, from, to, bytes: Some(bytes), round: 0, job: None, deadline: None };
        let part = &self.case.parts[0];
        let begun = Begun { part: 0, member: part.member(&start, &[]), start };
        let spec = setup::spec(&self.case, &self.managers, self.seed, id, &begun);
        match part.pair(&start).map(|pair| self.lasting.entry(pair)) {
            None => self.world.start(spec),
            Some(Entry::Occupied(first)) => self.world.append(*first.get(), id, bytes),
            Some(Entry::Vacant(place)) => {
                place.insert(id);
                self.world.start_lasting(spec);
            }
        }
        self.live.insert(id, begun);
        Ok(id)
    }

    /// Advances time until a message has arrived, which is returned, or until `until`. Without messages on their
    /// way, and with `until` = [`NEVER`], it returns at once.
    ///
    /// # Errors
    /// If nothing arrives any more: which messages wait for what.
    pub fn advance(&mut self, until: Time) -> Result<Option<FlowRecord>, Diagnostic> {
        while !(self.live.is_empty() && until == NEVER) {
            let due = self.case.setting.changes.get(self.changed).map_or(NEVER, |change| change.at);
            let due = until.min(due).min(self.stall.next());
            let ahead = self.world.advance(due, u64::MAX);
            self.world.settle();
            match ahead {
                Ahead::Ended(_, record) => {
                    let record = record.or_else(|| self.world.take_record());
                    let record = record.expect("all has been carried out up to its end");
                    self.live.remove(&record.id);
                    return Ok(Some(record));
                }
                Ahead::Budget => {}
                Ahead::Reached => {
                    self.change();
                    match self.stall.look(&*self.world) {
                        Some(why) if !self.live.is_empty() => return Err(self.stuck(&why)),
                        _ => {}
                    }
                    if due == until {
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Makes the changes of links that are due.
    fn change(&mut self) {
        let now = self.now();
        while let Some(change) = self.case.setting.changes.get(self.changed).filter(|own| own.at <= now) {
            make(change, &mut *self.world);
            self.changed += 1;
        }
    }

    fn stuck(&self, why: &Why) -> Diagnostic {
        let setting = &self.case.setting;
        let mut links = Links::new(&setting.fabric, &setting.changes);
        links.advance(self.now());
        let waiting: Vec<&Begun> = self.live.values().collect();
        Diagnostic::input(stall::describe(why, &setting.fabric, links.down(), &waiting))
    }
}
