//! Path managers at work on real hosts: their notifications, and the commands to the kernel for them.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

use tresse_path_manager::{Ack, Action, Memory, PathChoice, PathManager, Priority, Sent};
use tresse_units::{NEVER, Time};

use crate::address::address;
use crate::agent::{Ask, Subflow};
use crate::virtual_switch::Places;
use crate::world::World;
use crate::world::flow::{Carrier, OwnSubflow, srtt};

/// How often the subflows of a connection are looked at for a path manager that needs their states.
const WATCH: Duration = Duration::from_millis(5);

impl World<'_> {
    /// Notifies the path manager of a flow, and carries out the actions that it then asks for.
    pub(super) fn manage(&mut self, id: u64, tell: impl FnOnce(&mut dyn PathManager, Time, &mut Memory)) {
        let now = self.bed.wires.clock().now();
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let Carrier::Mptcp(managed) = &mut flow.carrier else { return };
        tell(&mut *managed.manager, now, &mut self.memories[managed.memory]);
        while let Some(action) = self.next_action(id) {
            self.act(id, action);
        }
    }

    fn next_action(&mut self, id: u64) -> Option<Action> {
        match &mut self.flows.get_mut(&id)?.carrier {
            Carrier::Mptcp(managed) => managed.manager.poll_action(),
            _ => None,
        }
    }

    fn act(&mut self, id: u64, action: Action) {
        let flow = self.flows.get_mut(&id).expect("a flow that is managed");
        let (host, listens) = (flow.hosts[0], flow.listens);
        let end = |number: usize, own: &[OwnSubflow]| Some((own[number].from?, own[number].to));
        let ask = match action {
            Action::Open { subflow, path } => {
                let (from, to) = ends(flow.hosts, flow.places.as_ref(), path, listens);
                assert_eq!(flow.subflows.len(), subflow, "subflows count up");
                flow.subflows.push(OwnSubflow::new(from, to));
                // The first is the connection itself.
                let id_of = from.octets()[3];
                (subflow > 0).then_some(Ask::Open { flow: id, subflow, from, id: id_of, to })
            }
            Action::Close { subflow } => {
                flow.subflows[subflow].is_open = false;
                end(subflow, &flow.subflows).map(|(from, to)| Ask::Close { flow: id, from, to })
            }
            Action::SetPriority { subflow, priority } => {
                let backup = priority != Priority::Normal;
                end(subflow, &flow.subflows).map(|(from, to)| Ask::Backup { flow: id, from, to, backup })
            }
            // Linux does this automatically, once a subflow has had timeouts (`net.mptcp.stale_loss_cnt`).
            Action::Reinject { .. } => None,
        };
        if let Some(ask) = ask {
            self.ask(host, &ask);
        }
    }

    /// A subflow is established.
    pub(super) fn joined(&mut self, id: u64, from: SocketAddrV4) {
        let Some(number) = self.flows.get_mut(&id).and_then(|flow| flow.number(from)) else { return };
        self.manage(id, |manager, now, memory| manager.handle_established(now, memory, number));
    }

    /// A subflow has ended without being closed, or there never was one.
    pub(super) fn gone(&mut self, id: u64, number: Option<usize>) {
        let Some((flow, number)) = self.flows.get_mut(&id).zip(number) else { return };
        if std::mem::take(&mut flow.subflows[number].is_open) {
            self.manage(id, |manager, now, memory| manager.handle_closed(now, memory, number));
        }
    }

    /// Records the current states of a flow's subflows.
    pub(super) fn seen(&mut self, id: u64, seen: Vec<Subflow>) {
        let scale = self.bed.wires.clock().scale();
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let before: Vec<Option<Subflow>> = flow.subflows.iter().map(|own| own.seen.clone()).collect();
        let mut news = Vec::new();
        for number in flow.see(seen) {
            let after = flow.subflows[number].seen.as_ref().expect("it was seen");
            let grown = |count: fn(&Subflow) -> u64| {
                count(after).saturating_sub(before[number].as_ref().map_or(0, count))
            };
            let sent = Sent {
                subflow: number,
                packets: grown(|own| own.segments),
                retransmissions: grown(|own| own.again),
                new_bytes: 0,
            };
            let ack = Ack {
                subflow: number,
                outstanding: after.outstanding.into(),
                marked: grown(|own| own.marks),
                srtt: srtt(after, scale).unwrap_or(0),
            };
            news.push((sent, (grown(|own| own.acked) > 0).then_some(ack)));
        }
        let Carrier::Mptcp(managed) = &mut flow.carrier else { return };
        managed.is_asked = false;
        if !managed.manager.observes() {
            return;
        }
        for (sent, ack) in news {
            if sent.packets > 0 {
                self.manage(id, |manager, now, memory| manager.handle_sent(now, memory, &sent));
            }
            if let Some(ack) = ack {
                self.manage(id, |manager, now, memory| manager.handle_ack(now, memory, &ack));
            }
        }
    }

    /// Serves the due timers of path managers. Returns when the next one is due.
    pub(super) fn serve(&mut self, now: Time) -> Time {
        let due = self.flows.iter().filter(|(_, flow)| flow.deadline() <= now).map(|(&id, _)| id);
        for id in due.collect::<Vec<u64>>() {
            self.manage(id, |manager, now, memory| {
                if manager.deadline() <= now {
                    manager.handle_timeout(now, memory);
                }
            });
            self.watch(id, now);
        }
        self.flows.values().map(super::flow::Flow::deadline).min().unwrap_or(NEVER)
    }

    /// Requests the subflows of a flow, if it is time.
    fn watch(&mut self, id: u64, now: Time) {
        let after = self.bed.wires.clock().scale().scaled(WATCH.as_nanos() as u64);
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let host = flow.hosts[0];
        let Carrier::Mptcp(managed) = &mut flow.carrier else { return };
        if managed.look_at > now {
            return;
        }
        managed.look_at = now + after;
        // If the last answer has not come yet, there is no further request.
        if !std::mem::replace(&mut managed.is_asked, true) {
            self.ask(host, &Ask::Look { flow: id });
        }
    }
}

/// The first port on which flows listen.
const PORTS: u16 = 10_000;

/// Where the receiver of a flow listens.
pub(super) fn listens(id: u64, host: u32) -> SocketAddrV4 {
    SocketAddrV4::new(address(host, 0), PORTS + (id % u64::from(u16::MAX - PORTS)) as u16)
}

/// The source and destination of a subflow. A source port that the path manager chooses becomes an address of
/// the host here, because the kernel chooses ports itself. If addresses have `places`, they are those of the
/// interfaces at the path's ends.
pub(super) fn ends(
    [from, to]: [u32; 2],
    places: Option<&Places>,
    path: PathChoice,
    listens: SocketAddrV4,
) -> (Ipv4Addr, SocketAddrV4) {
    let (local, remote) = match path {
        PathChoice::Addresses { local, remote } => (local, remote),
        PathChoice::Port(port) => (port, 0),
        PathChoice::Spray => (0, 0),
    };
    let [local, remote] =
        places.map_or([local.into(), remote.into()], |places| places.numbers(local, remote));
    (address(from, local), SocketAddrV4::new(address(to, remote), listens.port()))
}

/// The ends of a flow's first path.
pub(super) fn first(
    hosts: [u32; 2],
    places: Option<&Places>,
    listens: SocketAddrV4,
) -> (Ipv4Addr, SocketAddrV4) {
    ends(hosts, places, PathChoice::Addresses { local: 0, remote: 0 }, listens)
}
