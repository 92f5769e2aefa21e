//! A case as an environment: external agents steer subflows, step by step.
//!
//! Each episode is driven by the engine of runs, on a separate thread that waits between two
//! steps. So several environments can be stepped at the same time, and nothing is shared between
//! them.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use tresse_experiment::plan::{Case, link_events};
use tresse_experiment::schema::fidelity::Fidelity;
use tresse_units::{MICROSECOND, Time};

use crate::engine::Engine;
use crate::engine::piloted::{Pilot, State};
use crate::engine::worker::users_code;
use crate::setup;
use tresse_results::record::outcome::Rows;
use tresse_results::record::progress::Progress;

/// The length of a step while no agent knows its RTT.
const UNKNOWN_ROUND: Time = 10 * MICROSECOND;

/// What an agent requests for its subflow.
#[derive(Debug, Clone, Copy, Default)]
pub struct Action {
    /// The new window, packets, if it should change.
    pub cwnd: Option<u32>,
    /// The controller's word: what a round adds, in 1/256 packet, plus 2^32 if congestion halves the window.
    pub word: u64,
}

/// What an agent sees of its subflow: what happened since the last step, and its current state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Observation {
    /// Whether its flow has started.
    pub begun: bool,
    /// Whether its flow has ended.
    pub ended: bool,
    /// Payload that arrived, bytes.
    pub arrived: u64,
    /// Packets sent, without those sent again.
    pub sent: u64,
    /// CE marks that were echoed.
    pub marks: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// The smoothed RTT and the smallest RTT, ps; 0 if there is none yet.
    pub rtts: [Time; 2],
    /// The window, packets; 0 if it is not open.
    pub cwnd: u32,
    /// Packets in flight.
    pub in_flight: u32,
}

/// The result of a step.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Simulated time, ps.
    pub now: Time,
    /// How long the step was, ps.
    pub length: Time,
    /// Whether the case is over.
    pub over: bool,
    /// Whether it is over because its duration has passed.
    pub timed: bool,
    /// Why it gave up waiting, if it did.
    pub stuck: Option<String>,
    /// The observations, by agent.
    pub seen: Vec<Observation>,
}

/// Why a case cannot be an environment.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// No flow would have an agent.
    #[error("no flow of this case has the scheme {scheme}\n\nhint: its schemes are {known}")]
    Scheme {
        /// The requested scheme.
        scheme: String,
        /// The schemes of the case.
        known: String,
    },
    /// An agent belongs to a connection, and here flows have no connections of their own.
    #[error("messages share connections (`persistent`): in an environment each flow has its own")]
    Persistent,
    /// Agents see packets.
    #[error("agents need packets: fidelity = \"packets\"")]
    Rounds,
    /// A user's hooks may end the process, which is the caller's.
    #[error("{name} is a {what} from a file: in an environment all schemes must have built-in ones")]
    UsersFile {
        /// What it is.
        what: &'static str,
        name: &'static str,
    },
}

/// A case in which agents steer the flows of one scheme.
#[derive(Debug)]
pub struct Environment {
    case: Arc<Case>,
    scheme: usize,
    flows: usize,
    subflows: usize,
    interval: Option<Time>,
    episode: Option<Episode>,
}

/// The thread that an episode runs on. It ends when it gets no more steps.
#[derive(Debug)]
struct Episode {
    steps: Option<Sender<Vec<Action>>>,
    answers: Receiver<Step>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Episode {
    fn drop(&mut self) {
        self.steps = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // what it panicked with stands on stderr
        }
    }
}

impl Environment {
    /// Agents steer the subflows of the first `flows` flows of `scheme`; with `None`, of those that start at time
    /// 0, or of the first one. A step takes `interval`, or a round: the longest smoothed RTT of agents that have
    /// one.
    ///
    /// # Errors
    /// If the case cannot be an environment.
    pub fn new(
        case: Case,
        scheme: &str,
        flows: Option<usize>,
        interval: Option<Time>,
    ) -> Result<Self, Unfit> {
        if let Some(own) = users_code(&case).first() {
            return Err(Unfit::UsersFile { what: own.what, name: own.name });
        }
        if case.parts.iter().any(|part| part.persistent) {
            return Err(Unfit::Persistent);
        }
        if case.setting.fidelity == Fidelity::Rounds {
            return Err(Unfit::Rounds);
        }
        let Some(place) = case.bound_schemes.iter().position(|own| own.scheme == scheme) else {
            let known: Vec<&str> = case.bound_schemes.iter().map(|own| &*own.scheme).collect();
            return Err(Unfit::Scheme { scheme: scheme.to_owned(), known: known.join(", ") });
        };
        let at_start =
            || setup::first(&case, 1).iter().filter(|own| own.member.bound_scheme == place).count();
        let flows = flows.unwrap_or_else(|| at_start().max(1));
        let own = &case.bound_schemes[place];
        let subflows = own.subflows.unwrap_or(own.paths) as usize;
        Ok(Self { scheme: place, flows, subflows, interval, episode: None, case: Arc::new(case) })
    }

    /// How many flows are steered, and how many subflows each has. The agents of the first flow come first, then
    /// those of the second.
    pub fn agents(&self) -> [usize; 2] {
        [self.flows, self.subflows]
    }

    /// Payload of a full packet of the agents, bytes.
    pub fn mss(&self) -> u32 {
        self.case.bound_schemes[self.scheme].transport.mss
    }

    /// Begins an episode, and abandons the previous one. Its first step is available when an agent has a window:
    /// [`Environment::receive`].
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn reset(&mut self, seed: u64) -> io::Result<()> {
        self.episode = None;
        let (steps, asked) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        let (case, scheme) = (Arc::clone(&self.case), self.scheme);
        let (flows, subflows, interval) = (self.flows, self.subflows, self.interval);
        let thread = thread::Builder::new().spawn(move || {
            turn(&case, seed, Pilot::new(scheme, flows), [flows, subflows], interval, &asked, &answer);
        })?;
        self.episode = Some(Episode { steps: Some(steps), answers, thread: Some(thread) });
        Ok(())
    }

    /// Requests a step, which [`Environment::receive`] waits for. `false` if there is no episode.
    pub fn send(&self, actions: Vec<Action>) -> bool {
        let episode = self.episode.as_ref();
        episode.and_then(|own| own.steps.as_ref()).is_some_and(|steps| steps.send(actions).is_ok())
    }

    /// Waits for the requested step; `None` if the episode was aborted.
    pub fn receive(&self) -> Option<Step> {
        self.episode.as_ref()?.answers.recv().ok()
    }
}

/// Runs an episode until no more steps are requested.
fn turn(
    case: &Case,
    seed: u64,
    pilot: Pilot,
    agents: [usize; 2],
    interval: Option<Time>,
    asked: &Receiver<Vec<Action>>,
    answer: &Sender<Step>,
) {
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let empty = link_events::at_start(&case.setting.fabric, &case.setting.changes);
    let discard = |_: Rows<'_>| Ok::<(), Infallible>(());
    let mut engine = Engine::new(&empty, case, seed, setup::world(case, seed, 1), &progress, discard);
    engine.set_pilot(pilot);
    let Ok(()) = engine.begin();
    let [flows, subflows] = agents;
    let names = || (0..flows).flat_map(|flow| (0..subflows).map(move |subflow| (flow, subflow)));
    let mut known = vec![State::default(); flows * subflows];
    // Until there is something to decide.
    while engine.over().is_none()
        && !names().any(|(flow, subflow)| engine.state(flow, subflow).is_some_and(|own| own.cwnd > 0))
    {
        let Ok(()) = engine.turn_until(engine.now() + UNKNOWN_ROUND, &stop);
    }
    let mut before = engine.now();
    loop {
        let look = |((flow, subflow), known): ((usize, usize), &mut State)| {
            let (begun, ended) = engine.standing(flow);
            let now = engine.state(flow, subflow).unwrap_or(State { cwnd: 0, in_flight: 0, ..*known });
            let then = std::mem::replace(known, now);
            let since = now.counters - then.counters;
            Observation {
                begun,
                ended,
                arrived: now.arrived.saturating_sub(then.arrived),
                sent: since.sent,
                marks: since.marks,
                retransmissions: since.retransmissions,
                timeouts: since.timeouts,
                rtts: now.rtts,
                cwnd: now.cwnd,
                in_flight: now.in_flight,
            }
        };
        let seen = names().zip(&mut known).map(look).collect();
        let (now, over) = (engine.now(), engine.over());
        let step = Step {
            now,
            length: now - before,
            over: over.is_some(),
            timed: over == Some(true),
            stuck: engine.stuck().map(str::to_owned),
            seen,
        };
        before = now;
        if answer.send(step).is_err() {
            return;
        }
        let Ok(actions) = asked.recv() else { return };
        for ((flow, subflow), action) in names().zip(&actions) {
            engine.steer(flow, subflow, action.cwnd, action.word);
        }
        let round = || known.iter().filter(|own| own.cwnd > 0).map(|own| own.rtts[0]).max();
        let length = interval.or_else(round).filter(|&time| time > 0).unwrap_or(UNKNOWN_ROUND);
        let Ok(()) = engine.turn_until(now + length, &stop);
    }
}
