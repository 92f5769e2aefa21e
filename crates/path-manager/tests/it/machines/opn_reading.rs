//! A naive implementation of OPN's Algorithm 1, with floats, real timers and no regard for speed, compared
//! with the machines over random scripts of several connections between two hosts.

use proptest::prelude::*;
use tresse_optimum::opn::{Model, Reading, Rule};
use tresse_path_manager::{Action, ConfiguredManager, LossRate, Memory, PathChoice, Priority, Sent};
use tresse_units::{Time, Value};

use super::common::{Host, US, ack, opening, scheme};

const PATHS: u16 = 5;

/// timer_3, 1 ms: scripts of several periods stay short.
const PERIOD_US: u64 = 1000;
const PERIOD: f64 = 1e9;

/// The sending host: times in picoseconds, all whole numbers.
struct Sender {
    slow: [bool; PATHS as usize],
    timer_2: f64,
    timer_3: f64,
    s: f64,
    l: f64,
    /// Percent, on the grid. Divided last, so that a half is a half.
    eta: Option<f64>,
    epsilon: f64,
    delta: Option<f64>,
    flows: Vec<Flow>,
}

struct Flow {
    subflows: Vec<Subflow>,
    /// timer_1: when its period began and when it ends.
    timer_1: Option<(f64, f64)>,
}

struct Subflow {
    path: usize,
    open: bool,
    in_flight: bool,
    /// Only silence, with data in flight, since the period began.
    silent: bool,
    srtt: Option<f64>,
    rests: bool,
}

impl Sender {
    /// timer_2 and timer_3, once for each time that they expire.
    fn pass(&mut self, now: f64) {
        while self.timer_2 <= now {
            self.slow = [false; PATHS as usize];
            self.timer_2 += self.epsilon;
        }
        while self.timer_3 <= now {
            if self.s > 0.0 {
                self.eta = Some((100.0 * self.l / self.s).min(100.0).round());
                (self.s, self.l) = (0.0, 0.0);
            }
            self.timer_3 += PERIOD;
        }
    }

    /// Lines 14-20: how many subflows, and the FAST paths to choose from.
    fn new_flow(&mut self, now: f64) -> (usize, Vec<usize>) {
        self.pass(now);
        let n_star = self.eta.map_or(usize::from(PATHS), |eta| {
            let p = if eta == 0.0 { 1e-9 } else { eta / 100.0 };
            let model = Model::new(Reading::Product);
            model.optimal_subflows(Rule::Eq11, p).map_or(1, |n| n.subflows as usize)
        });
        let mut fast: Vec<_> = (0..usize::from(PATHS)).filter(|&path| !self.slow[path]).collect();
        if fast.is_empty() {
            fast = (0..usize::from(PATHS)).collect();
        }
        (n_star.min(fast.len()), fast)
    }

    /// Lines 1-7 for one flow.
    fn timer_1(&mut self, now: f64, flow: usize) {
        let flow = &mut self.flows[flow];
        let Some((_, end)) = flow.timer_1 else { return };
        if end <= now {
            for s in flow.subflows.iter().filter(|s| s.open && s.silent) {
                self.slow[s.path] = true;
            }
            flow.timer_1 = None;
        }
    }

    /// After every event: the priorities of subflows, what is sent again, and whether timer_1 runs.
    fn follow(&mut self, now: f64, flow: usize) -> Vec<Action> {
        let slow = self.slow;
        let flow = &mut self.flows[flow];
        let any_fast = flow.subflows.iter().any(|s| s.open && !slow[s.path]);
        let (mut priorities, mut again) = (Vec::new(), Vec::new());
        for (subflow, s) in flow.subflows.iter_mut().enumerate().filter(|(_, s)| s.open) {
            let rests = any_fast && slow[s.path];
            if rests != s.rests {
                let priority = if rests { Priority::Slow } else { Priority::Normal };
                priorities.push(Action::SetPriority { subflow, priority });
                if rests && s.in_flight {
                    again.push(Action::Reinject { subflow });
                }
            }
            s.rests = rests;
        }
        priorities.extend(again);
        if !flow.subflows.iter().any(|s| s.open && s.in_flight && !slow[s.path]) {
            flow.timer_1 = None;
        } else if flow.timer_1.is_none() {
            let srtts: Vec<_> = flow.subflows.iter().filter(|s| s.open).filter_map(|s| s.srtt).collect();
            let twice_mean = (2.0 * srtts.iter().sum::<f64>() / srtts.len() as f64).floor();
            let twice = (!srtts.is_empty()).then_some(twice_mean);
            if let Some(delta) = self.delta.or(twice) {
                flow.timer_1 = Some((now, now + delta));
                for s in &mut flow.subflows {
                    s.silent = s.in_flight;
                }
            }
        }
        priorities
    }

    fn sent(&mut self, now: f64, flow: usize, subflow: usize, packets: f64, retransmissions: f64) {
        let at_start = self.flows[flow].timer_1.is_some_and(|(start, _)| start == now);
        let s = &mut self.flows[flow].subflows[subflow];
        if !s.open {
            return;
        }
        self.s += packets;
        self.l += retransmissions;
        if packets > 0.0 && !s.in_flight {
            s.in_flight = true;
            // At the very start of a period, the data counts as having been in flight.
            s.silent = at_start;
        }
    }

    fn acked(&mut self, now: f64, flow: usize, subflow: usize, outstanding: bool, srtt: f64) {
        let at_start = self.flows[flow].timer_1.is_some_and(|(start, _)| start == now);
        let s = &mut self.flows[flow].subflows[subflow];
        s.in_flight = outstanding;
        s.srtt = (srtt > 0.0).then_some(srtt);
        s.silent = outstanding && at_start;
    }
}

#[derive(Debug, Clone)]
enum Step {
    Open { stream: u64 },
    Sent { flow: usize, subflow: usize, packets: u64, retransmissions: u64 },
    Acked { flow: usize, subflow: usize, outstanding: u64, srtt: u64 },
    Gone { flow: usize, subflow: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let at = || (0usize..8, 0usize..PATHS as usize);
    prop_oneof![
        1 => any::<u64>().prop_map(|stream| Step::Open { stream }),
        6 => (at(), 0u64..40, 0u64..4).prop_map(|((flow, subflow), packets, lost)| Step::Sent {
            flow, subflow, packets, retransmissions: lost.min(packets),
        }),
        6 => (at(), 0u64..3, 0u64..8).prop_map(|((flow, subflow), outstanding, srtt)| Step::Acked {
            flow, subflow, outstanding, srtt: srtt * 30,
        }),
        1 => at().prop_map(|(flow, subflow)| Step::Gone { flow, subflow }),
    ]
}

struct Both {
    memory: Memory,
    hosts: Vec<Host>,
    sender: Sender,
}

impl Both {
    /// Serves the machines' timers up to `now`, each at its time.
    fn pass(&mut self, now: u64) -> Result<(), TestCaseError> {
        while let Some((deadline, flow)) = self.hosts.iter().zip(0..).map(|(h, i)| (h.deadline(), i)).min()
            && deadline <= now
        {
            let asked: Vec<_> = self.hosts[flow].timeout(deadline, &mut self.memory).to_vec();
            let time = deadline as f64;
            self.sender.pass(time);
            self.sender.timer_1(time, flow);
            let expected = self.sender.follow(time, flow);
            prop_assert_eq!(asked.into_iter().map(|(_, action)| action).collect::<Vec<_>>(), expected);
        }
        Ok(())
    }

    /// Does `step` in both at `now`: its flow, and what the machine asked for; `None` if there are enough connections.
    fn take(
        &mut self,
        opn: &ConfiguredManager,
        now: u64,
        step: Step,
    ) -> Result<Option<Taken>, TestCaseError> {
        let (time, known) = (now as f64, self.hosts.len());
        Ok(Some(match step {
            Step::Open { stream } if known < 8 => {
                let (count, fast) = self.sender.new_flow(time);
                let host = Host::connected(opn, &opening(now, PATHS, stream), &mut self.memory);
                let path = |path| match path {
                    PathChoice::Port(port) => usize::from(port),
                    path => panic!("{path:?}"),
                };
                let paths: Vec<_> = host.subflows.iter().map(|s| path(s.path)).collect();
                prop_assert_eq!(paths.len(), count);
                prop_assert!(paths.iter().all(|path| fast.contains(path)), "{:?} of {:?}", paths, fast);
                let subflow = |path| Subflow {
                    path,
                    open: true,
                    in_flight: false,
                    silent: false,
                    srtt: None,
                    rests: false,
                };
                let subflows = paths.into_iter().map(subflow).collect();
                self.sender.flows.push(Flow { subflows, timer_1: None });
                self.hosts.push(host);
                (known, Vec::new())
            }
            Step::Open { .. } => return Ok(None),
            Step::Sent { flow, subflow, packets, retransmissions } => {
                let flow = flow % known;
                let subflow = subflow % self.hosts[flow].subflows.len();
                let sent = Sent { subflow, packets, retransmissions, new_bytes: 0 };
                let asked = self.hosts[flow].send(now, &mut self.memory, sent).to_vec();
                self.sender.sent(time, flow, subflow, packets as f64, retransmissions as f64);
                (flow, asked)
            }
            Step::Acked { flow, subflow, outstanding, srtt } => {
                let flow = flow % known;
                let subflow = subflow % self.hosts[flow].subflows.len();
                let asked = self.hosts[flow].ack(now, &mut self.memory, ack(subflow, outstanding, srtt));
                let asked = asked.to_vec();
                self.sender.acked(time, flow, subflow, outstanding > 0, (srtt * US) as f64);
                (flow, asked)
            }
            Step::Gone { flow, subflow } => {
                let flow = flow % known;
                let subflow = subflow % self.hosts[flow].subflows.len();
                let asked = self.hosts[flow].gone(now, &mut self.memory, subflow).to_vec();
                self.sender.flows[flow].subflows[subflow].open = false;
                (flow, asked)
            }
        }))
    }
}

/// A flow, and what its machine asked for.
type Taken = (usize, Vec<(Time, Action)>);

proptest! {
    #[test]
    fn the_machines_are_the_algorithm(
        fixed in prop::option::of(1u64..400),
        timer_2 in 300u64..3000,
        script in prop::collection::vec((0u64..250, step()), 1..120),
    ) {
        let mut settings = vec![
            ("timer_2", Value::Whole(timer_2)),
            ("timer_3", Value::Whole(PERIOD_US)),
            ("nstar", Value::Choice("product".to_owned())),
        ];
        if let Some(delta) = fixed {
            settings.push(("timer_1", Value::Choice("fixed".to_owned())));
            settings.push(("delta", Value::Whole(delta)));
        }
        let opn = scheme("opn", &settings);
        let epsilon = (timer_2 * US) as f64;
        let mut both = Both {
            memory: Memory::default(),
            hosts: Vec::new(),
            sender: Sender {
                slow: [false; PATHS as usize],
                timer_2: epsilon,
                timer_3: PERIOD,
                s: 0.0,
                l: 0.0,
                eta: None,
                epsilon,
                delta: fixed.map(|delta| (delta * US) as f64),
                flows: Vec::new(),
            },
        };
        // Both begin with the first connection, at time 0.
        let mut now = 0;
        let begin = [(0, Step::Open { stream: 1 })];
        for (wait, step) in begin.into_iter().chain(script) {
            now += wait * US;
            let time = now as f64;
            both.pass(now)?;
            both.sender.pass(time);
            let Some((flow, asked)) = both.take(&opn, now, step)? else { continue };
            let expected = both.sender.follow(time, flow);
            prop_assert_eq!(asked.into_iter().map(|(_, action)| action).collect::<Vec<_>>(), expected);
            let step = both.memory.loss().map(LossRate::step);
            prop_assert_eq!(step, both.sender.eta.map(|eta| eta as usize));
            for path in 0..PATHS {
                prop_assert_eq!(both.memory.is_slow(path), both.sender.slow[usize::from(path)]);
            }
        }
    }
}
