//! Runs a replication: flows start and stop, links change and observers observe, in the order of time.

mod ends;
pub mod ideal;
mod merged;
mod packets;
pub mod piloted;
pub mod replication;
pub mod stall;
pub mod worker;
pub mod writer;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use tresse_experiment::plan::Case;
use tresse_fabric::Topology;
use tresse_sim::{Ahead, FlowRecord, Manager};
use tresse_units::{NEVER, Time};
use tresse_workload::{Action, Job, Source};

use crate::engine::ideal::Ideals;
use crate::engine::packets::Packets;
use crate::engine::piloted::Pilot;
use crate::engine::stall::Stall;
use crate::engine::writer::{Writer, interval};
use crate::link_events::Links;
use crate::network::Network;
use crate::observe::{Observer, observers, path_sharing_score};
use crate::setup;
use tresse_results::record::flow::{Begun, Flow};
use tresse_results::record::optima::Optima;
use tresse_results::record::outcome::Rows;
use tresse_results::record::packed_flows::PackedFlows;
use tresse_results::record::progress::Progress;

/// Packet-hops between two checks of the stop flag: a few milliseconds of work.
const BUDGET: u64 = 1 << 16;

/// The number of flows that are passed on together, unless a round ends first.
const BATCH: usize = 4096;

/// Flows are also passed on after this many packet-hops, a few tenths of a second of work, because large flows
/// rarely end.
const HOPS: u64 = 1 << 21;

/// A case under a seed, while it runs.
pub(crate) struct Engine<'a, M, W> {
    case: &'a Case,
    seed: u64,
    progress: &'a Progress,
    measured: M,
    world: W,
    links: Links<'a>,
    stall: Stall,
    parts: Vec<Running>,
    /// By the case's bound schemes.
    managers: Vec<Manager>,
    /// By payload and header of a full packet.
    ideals: BTreeMap<[u32; 2], Ideals<'a>>,
    /// The flows that have not finished, by the simulator's names for them.
    live: BTreeMap<u64, Live>,
    /// Those that have ended and have no record yet, in this order.
    ended: VecDeque<Live>,
    /// The persistent connections, by part and bound scheme and their ends (`Part::pair`): the simulator's
    /// names for them.
    lasting: BTreeMap<([usize; 2], [u32; 3]), u64>,
    /// The simulator's name of the next flow.
    next: u64,
    /// The times at which an application writes or a datagram is sent, and for which flow.
    writes: BTreeSet<(Time, u64)>,
    /// The flows of this round, in the order of their ends; those that were passed on are only in `flows`.
    batch: Vec<Flow>,
    round: u32,
    /// Whether flows of this round were passed on before it ended.
    is_cut: bool,
    /// Whether all flows of this round started together, and nothing else was there.
    is_whole: bool,
    flows: PackedFlows,
    jobs: Vec<(usize, Job)>,
    handed: HandedOn,
    observers: Vec<Box<dyn Observer<'a> + 'a>>,
    optima: Optima,
    /// The flows that agents control.
    pilot: Option<Pilot>,
    packets: Option<Packets>,
    stuck: Option<String>,
    complete: bool,
}

/// What was passed on.
#[derive(Default)]
struct HandedOn {
    /// The number of jobs.
    jobs: usize,
    /// The packet-hops when something last was.
    hops: u64,
}

/// A part of the case.
struct Running {
    source: Box<dyn Source>,
    /// Whether it ends by itself, and not because the others have ended.
    ends: bool,
    halves: Vec<u32>,
    /// The simulator's names for its flows, by its own names.
    names: BTreeMap<u64, u64>,
}

/// A flow that has not finished.
struct Live {
    begun: Begun,
    began: Time,
    /// See [`Flow::ideal`].
    ideal: Option<Time>,
    what: DataSource,
}

/// How its data arises.
enum DataSource {
    /// All at once.
    Message,
    /// As an application writes it.
    Written(Writer),
    /// Datagrams with this many bytes of payload, one per this interval.
    Datagrams(u32, Time),
}

impl<'a, M, W, E> Engine<'a, M, W>
where
    M: FnMut(Rows) -> Result<(), E>,
    W: Network,
{
    /// `empty` is the network at the start of the run, and `world` is the network of the previous case.
    pub fn new(
        empty: &'a Topology,
        case: &'a Case,
        seed: u64,
        mut world: W,
        progress: &'a Progress,
        measured: M,
    ) -> Self {
        let part = |part: &tresse_experiment::plan::parts::Part| {
            let source = part.source(seed);
            let halves = part.halves(seed, case.setting.fabric.hosts());
            Running { ends: !source.is_endless(), source, halves, names: BTreeMap::new() }
        };
        let parts: Vec<Running> = case.parts.iter().map(part).collect();
        let mut links = Links::new(&case.setting.fabric, &case.setting.changes);
        links.apply(&mut world);
        let expected = parts.iter().map(|p| p.source.expected_bytes()).fold(0, u64::saturating_add);
        let endless = parts.iter().any(|p| !p.ends);
        let packets = case.bound_schemes.iter().map(|c| [c.transport.mss, c.transport.header]);
        let ideals = packets.map(|[mss, header]| ([mss, header], Ideals::new(empty, mss, header))).collect();
        progress.expected_bytes.store(if endless { 0 } else { expected }, Ordering::Relaxed);
        let ending = case.parts.iter().zip(&parts).filter(|(_, own)| own.ends);
        let flows = ending.map(|(part, _)| part.pattern.flow_counts.in_all).fold(0, u64::saturating_add);
        progress.expected_flows.store(if endless { flows } else { 0 }, Ordering::Relaxed);
        progress.expected_ps.store(case.ends_by().unwrap_or(0), Ordering::Relaxed);
        Self {
            case,
            seed,
            progress,
            measured,
            stall: Stall::new(&world, case.setting.options.pauses()),
            observers: observers(case, seed, &world, &links),
            world,
            links,
            parts,
            managers: setup::managers(case),
            ideals,
            live: BTreeMap::new(),
            ended: VecDeque::new(),
            lasting: BTreeMap::new(),
            next: 0,
            writes: BTreeSet::new(),
            batch: Vec::new(),
            round: 0,
            is_cut: false,
            is_whole: true,
            flows: PackedFlows::default(),
            jobs: Vec::new(),
            handed: HandedOn::default(),
            optima: Optima::default(),
            pilot: None,
            packets: case.setting.packets.clone().map(Packets::new),
            stuck: None,
            complete: true,
        }
    }

    /// Advances time until the case is over, or `stop` is set.
    pub fn turn(&mut self, stop: &AtomicBool) -> Result<(), E> {
        self.begin()?;
        self.turn_until(NEVER, stop)
    }

    /// Starts what starts at time 0.
    pub fn begin(&mut self) -> Result<(), E> {
        (0..self.parts.len()).try_for_each(|part| self.poll(part))
    }

    /// Advances time until `pause`, or until the case is over or `stop` is set. Pauses do not affect what happens.
    pub fn turn_until(&mut self, pause: Time, stop: &AtomicBool) -> Result<(), E> {
        while self.complete && !self.is_over() {
            let due = self.until();
            let until = due.min(pause);
            let step = self.world.advance(until, BUDGET);
            self.take_records();
            self.publish();
            self.hand_on_packets(false)?;
            self.complete = !stop.load(Ordering::Relaxed);
            match step {
                Ahead::Ended(id, record) => {
                    let part = self.end(id, record);
                    self.poll(part)?;
                }
                Ahead::Budget => {}
                Ahead::Reached if until == due => self.reach(until)?,
                Ahead::Reached => break,
            }
        }
        if self.pilot.is_some() {
            self.settle(); // agents look at their flows now
        }
        Ok(())
    }

    /// The work that is due at the current time.
    fn reach(&mut self, until: Time) -> Result<(), E> {
        if self.looked_at() <= until {
            self.settle();
        }
        if let Some(why) = self.stall.look(&self.world) {
            self.complete = false;
            let waiting: Vec<&Begun> = self.live.values().map(|l| &l.begun).collect();
            self.stuck = Some(stall::describe(&why, &self.case.setting.fabric, self.links.down(), &waiting));
        }
        if self.links.apply(&mut self.world) {
            for observer in &mut self.observers {
                observer.links_changed(&self.world, &self.links);
            }
        }
        for observer in self.observers.iter_mut().filter(|o| o.deadline() == until) {
            observer.at(&self.world).map_or(Ok(()), &mut self.measured)?;
        }
        self.write();
        for part in 0..self.parts.len() {
            if self.parts[part].source.next() <= self.world.now() {
                self.poll(part)?;
            }
        }
        Ok(())
    }

    /// When the next work is due, unless a flow finishes first.
    fn until(&self) -> Time {
        let sources = self.parts.iter().map(|p| p.source.next());
        let writes = self.writes.first().map_or(NEVER, |(time, _)| *time);
        sources.fold(writes.min(self.looked_at()), Time::min).min(self.case.duration.unwrap_or(NEVER))
    }

    /// When somebody looks at the network next, or changes it.
    fn looked_at(&self) -> Time {
        let next = self.stall.next().min(self.links.next().unwrap_or(NEVER));
        self.observers.iter().map(|o| o.deadline()).fold(next, Time::min)
    }

    fn is_over(&self) -> bool {
        if let Some(end) = self.case.duration {
            let nothing_left = self.live.is_empty() && self.parts.iter().all(|p| p.source.is_over());
            return nothing_left || self.world.now() >= end;
        }
        // What is endless goes on as long as something else does, if it was not closed.
        self.parts.iter().filter(|p| !p.source.is_endless()).all(|p| p.source.is_over())
    }

    /// Does what a part requests now.
    fn poll(&mut self, part: usize) -> Result<(), E> {
        while let Some(action) = self.parts[part].source.poll(self.world.now()) {
            match action {
                Action::Start(start) => {
                    if start.round != self.round {
                        self.end_round()?;
                        self.round = start.round;
                    }
                    let member = self.case.parts[part].member(&start, &self.parts[part].halves);
                    self.start(Begun { part, member, start });
                }
                Action::Stop(name) => {
                    if let Some(&id) = self.parts[part].names.get(&name) {
                        self.stop(id);
                    }
                }
                Action::Ended(job) => self.jobs.push((part, job)),
            }
        }
        self.close();
        // The cut depends on the flows alone, never on when progress is read: so does the order of rows.
        let has_gone_on = self.world.steady_hops().saturating_sub(self.handed.hops) >= HOPS;
        if !self.is_whole && (self.batch.len() + self.ended.len() >= BATCH || has_gone_on) {
            self.is_cut = true;
            self.hand_on()?;
        }
        Ok(())
    }

    /// Once the last flow of the parts that end has arrived, nothing arrives in the endless ones: until the last flow has
    /// finished, which is later with a slower scheme, they would go on, and schemes would carry different loads.
    fn close(&mut self) {
        let ending = || self.parts.iter().filter(|part| part.ends).map(|part| &part.source);
        let goes_on = self.case.duration.is_none() && !ending().all(|source| source.is_over());
        if goes_on && ending().all(|source| source.has_arrived()) {
            self.parts.iter_mut().filter(|part| !part.ends).for_each(|part| part.source.close());
        }
    }

    fn start(&mut self, begun: Begun) {
        let (now, id) = (self.world.now(), self.next);
        self.next += 1;
        let is_first = self.batch.is_empty() && self.ended.is_empty() && !self.is_cut;
        self.is_whole &= is_first && self.live.values().next().is_none_or(|l| l.began == now);
        let part = &self.case.parts[begun.part];
        let mut spec = setup::spec(self.case, &self.managers, self.seed, id, &begun);
        if let Some(pilot) = &mut self.pilot {
            pilot.take(&begun, &mut spec);
        }
        let what = match (setup::datagrams(part, &begun.start), part.application(&begun.start)) {
            (Some(rate), _) => {
                let payload = spec.config.mss;
                self.world.start_datagrams(spec);
                DataSource::Datagrams(payload, interval(payload.into(), rate))
            }
            (None, Some(app)) => {
                let writer = Writer::new(app.clone(), now, spec.config.mss);
                self.world.start_unwritten(spec);
                DataSource::Written(writer)
            }
            (None, None) => {
                match part.pair(&begun.start) {
                    None => self.world.start(spec),
                    Some(pair) => match self.lasting.entry(([begun.part, begun.member.bound_scheme], pair)) {
                        Entry::Occupied(own) => self.world.append(*own.get(), id, spec.bytes),
                        Entry::Vacant(place) => {
                            place.insert(id);
                            self.world.start_lasting(spec);
                        }
                    },
                }
                DataSource::Message
            }
        };
        if !matches!(what, DataSource::Message) {
            self.writes.insert((now, id));
        }
        self.parts[begun.part].names.insert(begun.start.name, id);
        if let Some(packets) = &mut self.packets {
            packets.start(id, &begun);
        }
        let ideal = match what {
            DataSource::Message => self.ideal(&begun),
            DataSource::Written(_) | DataSource::Datagrams(..) => None,
        };
        self.live.insert(id, Live { begun, began: now, ideal, what });
        for observer in &mut self.observers {
            observer.flow_started(&self.world, id, &begun);
        }
        self.write();
    }

    /// The completion time of a flow on an empty network, if it ends on its own.
    fn ideal(&mut self, begun: &Begun) -> Option<Time> {
        let transport = &self.case.bound_schemes[begun.member.bound_scheme].transport;
        let ideals =
            self.ideals.get_mut(&[transport.mss, transport.header]).expect("one of the case's bound_schemes");
        ideals.time(begun.start.from, begun.start.to, begun.start.bytes?)
    }

    /// Handles the applications and datagrams that are due.
    fn write(&mut self) {
        let now = self.world.now();
        if self.writes.first().is_some_and(|(time, _)| *time <= now) {
            self.settle();
        }
        while let Some((_, id)) = self.writes.first().copied().filter(|(time, _)| *time <= now) {
            self.writes.pop_first();
            let Some(live) = self.live.get_mut(&id) else { continue };
            let next = match &mut live.what {
                DataSource::Message => continue,
                DataSource::Written(writer) => {
                    let delivered = self.world.delivered(id);
                    self.world.write(id, writer.write(now, delivered));
                    writer.next()
                }
                DataSource::Datagrams(payload, interval) => {
                    self.world.send_datagram(id, *payload);
                    now + *interval
                }
            };
            self.writes.insert((next, id));
        }
    }

    /// A flow has finished: its part is told.
    fn end(&mut self, id: u64, record: Option<FlowRecord>) -> usize {
        let live = self.remove(id);
        let Begun { part, start, .. } = live.begun;
        match record {
            Some(record) => self.add(live, &record),
            None => {
                self.ended.push_back(live);
                if self.observers.iter().any(|own| own.watches_flows()) {
                    self.settle();
                }
            }
        }
        self.parts[part].source.handle_finished(self.world.now(), start.name);
        part
    }

    /// A flow is stopped now.
    fn stop(&mut self, id: u64) {
        self.settle();
        let record = self.world.stop(id);
        let live = self.remove(id);
        self.add(live, &record);
    }

    /// A flow is over.
    fn remove(&mut self, id: u64) -> Live {
        let live = self.live.remove(&id).expect("a flow that was started");
        let part = &mut self.parts[live.begun.part];
        part.names.remove(&live.begun.start.name);
        if part.ends {
            self.progress.flows.fetch_add(1, Ordering::Relaxed);
        }
        live
    }

    /// What was measured of a flow that is over.
    fn add(&mut self, live: Live, record: &FlowRecord) {
        let Live { begun, ideal, .. } = live;
        for observer in &mut self.observers {
            observer.flow_ended(&self.world, record.id);
        }
        let shares = path_sharing_score::shares(self.case, self.seed, &begun, record);
        let locality = self.case.setting.fabric.locality(begun.start.from, begun.start.to);
        self.batch.push(Flow { begun, locality, shares, ideal, record: *record });
    }

    /// Carries out all that has happened until now.
    fn settle(&mut self) {
        self.world.settle();
        self.take_records();
    }

    /// Takes the records of flows that have ended.
    fn take_records(&mut self) {
        while let Some(record) = self.world.take_record() {
            let live = self.ended.pop_front().expect("a flow that has ended");
            self.add(live, &record);
        }
    }

    fn publish(&self) {
        self.progress.now.store(self.world.now(), Ordering::Relaxed);
        self.progress.hops.store(self.world.hops(), Ordering::Relaxed);
        self.progress.bytes.store(self.world.delivered_bytes(), Ordering::Relaxed);
    }
}
