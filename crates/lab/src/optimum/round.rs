//! A round of a workload as a problem: its flows, all present together, and the links that they share.

use std::collections::BTreeMap;

use tresse_experiment::plan::Case;
use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_experiment::plan::network::Routing;
use tresse_fabric::{Probability, ShortestPaths, Topology};
use tresse_optimum::claims::{Claim, Subflows, claim};
use tresse_optimum::fluid::{self, Link, Network, Path, Signal};
use tresse_optimum::problem::{Flow, Problem};

use super::schemes::{Share, spreads};
use crate::link_events::Links;
use crate::setup;
use tresse_results::record::flow::Begun;

/// Flows of a case that are active together: nobody has finished. It must be known which paths they may take: see
/// `schemes::no_paths`.
///
/// Links are the ports that data takes; ACKs take nothing. Rates are on the wire, headers included. RTTs are
/// those of empty paths.
#[derive(Debug)]
pub struct Round<'a> {
    /// By flow: the sending and the receiving host.
    pub hosts: Vec<[u32; 2]>,
    /// By flow.
    flows: Vec<RoundFlow<'a>>,
    /// The ports of the fabric that the links are, in their order.
    pub ports: Vec<u32>,
    capacities: Vec<u64>,
    /// The links' names in messages: their two ends.
    names: Vec<String>,
}

#[derive(Debug)]
struct RoundFlow<'a> {
    bound_scheme: &'a BoundScheme,
    /// By path, indices of links.
    paths: Vec<Vec<usize>>,
    /// Whether each packet may take any of the paths; otherwise there is one for each subflow.
    spread: bool,
    /// The most that its application writes, bit/s on the wire.
    limit: Option<f64>,
    /// By path, how likely some port on it loses a packet, whatever the queues.
    losses: Vec<f64>,
    /// By path, the RTT when it is empty, ps.
    rtts: Vec<u64>,
    claim: Option<Claim>,
}

impl RoundFlow<'_> {
    /// Bytes of a full packet on the wire.
    fn packet_bytes(&self) -> u32 {
        self.bound_scheme.transport.mss + self.bound_scheme.transport.header
    }

    /// If packets are spread, every subflow has the least RTT.
    fn with_subflows<T>(&self, of: impl FnOnce(Subflows) -> T) -> T {
        let rtts = self.rtts.iter().map(|&rtt| tresse_units::seconds(rtt));
        let rtts: Vec<f64> = match self.spread {
            true => {
                vec![rtts.fold(f64::INFINITY, f64::min); self.bound_scheme.subflows.unwrap_or(1) as usize]
            }
            false => rtts.collect(),
        };
        of(Subflows { rtts: &rtts, packet: f64::from(self.packet_bytes()) * 8.0 })
    }

    /// What it maximises, and over which links; `None` if no utility of such subflows is known.
    fn problem(&self, name: String) -> Option<Flow> {
        let objective = self.claim.as_ref()?.objective.as_ref()?;
        let paths = self.paths.iter().cloned();
        let flow =
            if self.spread { objective.spread_flow(name, paths)? } else { objective.flow(name, paths) };
        self.limit.map_or(Some(flow.clone()), |limit| flow.limited(limit))
    }
}

impl<'a> Round<'a> {
    /// These flows of `case` under `seed`.
    pub fn new(case: &'a Case, seed: u64, begun: &[Begun]) -> Self {
        let fabric = &case.setting.fabric;
        let routes: Vec<Vec<Vec<u32>>> = begun.iter().map(|b| routes(case, seed, b)).collect();
        let used: BTreeMap<u32, usize> = routes.iter().flatten().flatten().map(|&port| (port, 0)).collect();
        let links: BTreeMap<u32, usize> = used.into_keys().zip(0..).collect();
        let flow = |(routes, begun): (&Vec<Vec<u32>>, &Begun)| {
            let bound_scheme = &case.bound_schemes[begun.member.bound_scheme];
            let transport = bound_scheme.transport;
            let bytes = transport.mss + transport.header;
            let application = case.parts[begun.part].application(&begun.start);
            let on_wire = f64::from(bytes) / f64::from(transport.mss);
            let paths = routes.iter().map(|ports| ports.iter().map(|p| links[p]).collect()).collect();
            let losses = routes.iter().map(|ports| loss(fabric, ports)).collect();
            let rtts = routes.iter().map(|ports| fabric.base_rtt(ports, bytes, transport.ack)).collect();
            let flow = RoundFlow {
                bound_scheme,
                paths,
                spread: bound_scheme.sprayed.is_some() || spreads(bound_scheme),
                limit: application.map(|app| app.most() as f64 * on_wire),
                losses,
                rtts,
                claim: None,
            };
            let claim = flow.with_subflows(|s| claim(&bound_scheme.controllers, s));
            RoundFlow { claim, ..flow }
        };
        Self {
            hosts: begun.iter().map(|b| [b.start.from, b.start.to]).collect(),
            flows: routes.iter().zip(begun).map(flow).collect(),
            capacities: links.keys().map(|&p| fabric.rate(p)).collect(),
            names: links.keys().map(|&p| fabric.end_names(p).join(" to ")).collect(),
            ports: links.into_keys().collect(),
        }
    }

    /// The links carry what they do in `links`, none of which is down. RTTs stay what they were.
    pub(super) fn set_capacities(&mut self, links: &Links) {
        self.capacities = self.ports.iter().map(|&port| links.capacity(port)).collect();
    }

    /// How many paths the flows have together.
    pub fn paths(&self) -> usize {
        self.flows.iter().map(|f| f.paths.len()).sum()
    }

    /// Who carries the flows, in the order of their first ones.
    pub fn schemes(&self) -> Vec<Share<'_>> {
        let mut schemes: Vec<Share> = Vec::new();
        for flow in &self.flows {
            let own = &flow.bound_scheme.scheme;
            match schemes.iter_mut().find(|s| s.bound_scheme.scheme == *own) {
                Some(share) => share.flows += 1,
                None => schemes.push(Share {
                    bound_scheme: flow.bound_scheme,
                    flows: 1,
                    claim: flow.claim.as_ref(),
                }),
            }
        }
        schemes
    }

    /// The problem of maximising the sum of the utilities that are claimed, or that stand in for them; `None`
    /// where a flow has neither. What ports lose by themselves is not in it: it takes no room on the links after
    /// them.
    pub fn problem(&self) -> Option<Problem> {
        let mut problem = Problem::default();
        for (name, &capacity) in self.names.iter().zip(&self.capacities) {
            problem.link(name.clone(), capacity as f64);
        }
        for (flow, [from, to]) in self.flows.iter().zip(&self.hosts) {
            problem.flows.push(flow.problem(format!("host {from} to host {to}"))?);
        }
        Some(problem)
    }

    /// Why a flow has no problem, although its controller has a utility.
    pub fn no_problem(&self) -> Option<String> {
        let lacks = |flow: &&RoundFlow| {
            let known = flow.claim.as_ref().is_some_and(|claim| claim.objective.is_some());
            known && flow.problem(String::new()).is_none()
        };
        let flow = self.flows.iter().find(lacks)?;
        let name = flow.bound_scheme.controllers.controller().name();
        Some(match flow.spread {
            true => format!(
                "{name}'s subflows count separately, but their packets are spread over the same paths"
            ),
            false => format!("{name} bounds the rate of each path, and an application that of the flow"),
        })
    }

    /// Why the fluid model does not cover these flows, whatever their controllers.
    pub fn beyond_fluid(&self) -> Option<&'static str> {
        if self.flows.iter().any(|flow| flow.spread) {
            return Some(
                "packets are spread over several paths, and the fluid model has one path for a subflow",
            );
        }
        let limited = self.flows.iter().any(|flow| flow.limit.is_some());
        limited.then_some("applications limit flows, which the fluid model does not know")
    }

    /// The fluid model of these flows; `None` if some controller has none, if packets differ in size, or if it is
    /// [`beyond`](Self::beyond_fluid) them. Ports signal
    /// per round: they mark above a threshold, or drop when full, and meet all that send just then. What ports lose
    /// besides is lost packet by packet.
    ///
    /// Links that can never be full before another on the same paths are left out: they change no rate, but
    /// how two links that are full at once divide their signal would take long to settle.
    pub fn network(&self) -> Option<Network> {
        let packet_bytes = self.flows.first()?.packet_bytes();
        if self.beyond_fluid().is_some() || self.flows.iter().any(|f| f.packet_bytes() != packet_bytes) {
            return None;
        }
        let kept = self.decisive();
        let place: BTreeMap<usize, usize> = kept.iter().copied().zip(0..).collect();
        let mut connections = Vec::new();
        for flow in &self.flows {
            let path = |((links, &loss), &rtt_ps): ((&Vec<usize>, &f64), &u64)| {
                let links = links.iter().filter_map(|l| place.get(l).copied()).collect();
                Path { links, rtt_ps, loss }
            };
            let paths = flow.paths.iter().zip(&flow.losses).zip(&flow.rtts).map(path).collect();
            let controllers = &flow.bound_scheme.controllers;
            let floor = f64::from(controllers.controller().min_cwnd());
            connections.extend(
                flow.with_subflows(|subflows| fluid::connections(controllers, subflows, paths, floor))?,
            );
        }
        Some(Network {
            packet_bytes: packet_bytes.into(),
            signal: Signal::PerRound,
            links: kept.iter().map(|&l| Link::Capacity(self.capacities[l])).collect(),
            connections,
        })
    }

    /// The rates of a state of [`Self::network`], by flow and path.
    pub fn by_flow(&self, connections: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let mut rates = connections.into_iter().flatten();
        self.flows.iter().map(|flow| rates.by_ref().take(flow.paths.len()).collect()).collect()
    }

    /// The links that some paths take without another link that is at least as narrow, and that all these
    /// paths take. Of links that are alike the one nearest to the hosts stays.
    fn decisive(&self) -> Vec<usize> {
        let mut users: Vec<Vec<&[usize]>> = vec![Vec::new(); self.capacities.len()];
        for path in self.flows.iter().flat_map(|f| &f.paths) {
            path.iter().for_each(|&l| users[l].push(path));
        }
        // A total order, so that no two links leave each other out.
        let rank = |l: usize| (self.capacities[l], std::cmp::Reverse(users[l].len()), l);
        let stands_in =
            |m: usize, l: usize| rank(m) < rank(l) && users[l].iter().all(|path| path.contains(&m));
        (0..users.len()).filter(|&l| !users[l][0].iter().any(|&m| stands_in(m, l))).collect()
    }

    /// By flow, the share of payload in a full packet: its goodput over its rate on the wire.
    pub fn payloads(&self) -> impl Iterator<Item = f64> {
        self.flows.iter().map(|f| f64::from(f.bound_scheme.transport.mss) / f64::from(f.packet_bytes()))
    }

    /// The goodputs of rates on the wire, by flow.
    pub fn goodputs(&self, rates: impl IntoIterator<Item = f64>) -> Vec<f64> {
        rates.into_iter().zip(self.payloads()).map(|(rate, payload)| rate * payload).collect()
    }
}

/// The ports of each path there that packets of a flow may take.
fn routes(case: &Case, seed: u64, flow: &Begun) -> Vec<Vec<u32>> {
    match all_shortest(case, flow) {
        Some((paths, [from, to])) => {
            (0..paths.count(from, to)).map(|k| paths.path(from, to, k).there).collect()
        }
        None => setup::paths(case, seed, flow).fixed().iter().map(|p| p.there.clone()).collect(),
    }
}

/// If packets of a flow may take any shortest path: all of these, and the addresses between which.
fn all_shortest<'a>(case: &'a Case, flow: &Begun) -> Option<(&'a ShortestPaths, [u32; 2])> {
    let address = |host| case.setting.fabric.addresses(host).start;
    match &*case.bound_schemes[flow.member.bound_scheme].routing {
        Routing::Fixed(_) => None,
        Routing::Nodes { paths, .. } => Some((paths, [flow.start.from, flow.start.to].map(address))),
    }
}

/// How many paths flows have together that may take any shortest path.
pub(super) fn shortest_paths(case: &Case, begun: &[Begun]) -> u64 {
    let all = begun.iter().filter_map(|flow| all_shortest(case, flow));
    all.map(|(paths, [from, to])| u64::from(paths.count(from, to))).sum()
}

/// The probability that one of `ports` loses a packet.
fn loss(fabric: &Topology, ports: &[u32]) -> f64 {
    let arrives = |&port: &u32| 1.0 - fabric.loss(port).parts() as f64 / Probability::ONE.parts() as f64;
    1.0 - ports.iter().map(arrives).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tresse_experiment::{Plan, Profile, find, load, resolve};

    fn plan(experiment: &str, settings: &[&str], only: &str) -> Plan {
        let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
        let loaded = load(find(experiment).expect("built in"), Profile::Quick, &settings).expect("valid");
        resolve(&loaded, &[only.to_owned()]).expect("valid")
    }

    fn first(plan: &Plan) -> Round<'_> {
        Round::new(&plan.cases[0], 1, &setup::first(&plan.cases[0], 1))
    }

    /// Whatever rates the links that are left can carry, all can.
    #[test]
    fn links_that_are_left_out_decide_nothing() {
        for layers in ["1Gbps", "{ rack = '1Gbps', aggregation = '400Mbps', core = '3Gbps' }"] {
            let plan = plan("xmp/table1", &["fabric.k=4", &format!("fabric.rate={layers}")], "scheme=xmp");
            let round = first(&plan);
            let kept = round.decisive();
            assert!(kept.len() < round.capacities.len());
            let paths: Vec<&Vec<usize>> = round.flows.iter().flat_map(|f| &f.paths).collect();
            for l in (0..round.capacities.len()).filter(|l| !kept.contains(l)) {
                let stands_in = kept.iter().any(|&m| {
                    round.capacities[m] <= round.capacities[l]
                        && paths.iter().all(|p| !p.contains(&l) || p.contains(&m))
                });
                assert!(stands_in, "nothing limits link {l} any more");
            }
            assert!(paths.iter().all(|p| p.iter().any(|l| kept.contains(l))));
        }
    }

    /// 1 - Π(1 - p): two ports of the rack, two of each layer above that the path reaches.
    #[test]
    fn the_fluid_knows_what_ports_lose() {
        let loss = "fabric.loss={ rack = 0.1, aggregation = 0.02, core = 0.003 }";
        let plan = plan("xmp/table1", &["fabric.k=4", loss], "scheme=lia");
        let round = first(&plan);
        let network = round.network().expect("LIA has a fluid model");
        let mut far = 0;
        for (connection, flow) in network.connections.iter().zip(&round.flows) {
            for (path, links) in connection.paths.iter().zip(&flow.paths) {
                let arrives: f64 = [0.9f64, 0.98, 0.997][..links.len() / 2].iter().map(|p| p * p).product();
                assert!((path.loss - (1.0 - arrives)).abs() < 1e-8, "{path:?}");
                far += usize::from(links.len() == 6);
            }
        }
        assert!(far > 0);
    }

    #[test]
    fn the_flows_are_those_of_the_run() {
        let plan = plan("xmp/table1", &[], "scheme=dctcp");
        let round = first(&plan);
        let problem = round.problem().expect("DCTCP has a reference");
        assert_eq!((problem.flows.len(), round.hosts.len()), (128, 128));
        // A path begins at its sender's port and ends at its receiver's: both have numbers of their own.
        for (flow, &[from, to]) in problem.flows.iter().zip(&round.hosts) {
            let links = &flow.paths[0].links;
            assert_eq!(round.ports[links[0]], from);
            assert_eq!(round.ports[*links.last().expect("a link")], 128 + to);
        }
        assert!(round.goodputs([1500.0; 128]).iter().all(|goodput| (goodput - 1460.0).abs() < 1e-9));
    }
}
