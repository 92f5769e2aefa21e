//! Options of switch ports beyond one queue with a threshold: drops in bursts, random early detection, classes
//! under deficit round robin, a buffer shared by the ports of a switch, flow control.

use std::sync::Arc;

use tresse_fabric::{
    ClassConfig, ClassMark, MAX_CLASSES, PfcConfig, PoolConfig, PortConfig, Processing, QueuedPortConfig,
    RedConfig, Service, Threshold, Topology,
};
use tresse_units::{Bytes, Duration, Mark, Queue, Time};

use crate::diagnostic::{Wrong, wrong};
use crate::plan::flow_control::FlowControl;
use crate::plan::link_events::Change;
use crate::schema::bounds::LONGEST;
use crate::schema::fabric::{Fabric, Layered};
use crate::schema::host_cpu::HostCpu;
use crate::schema::ports::{Buffer, Class, MarkAt, Red, Share};

/// The ports of a network, as a fabric takes them.
#[derive(Debug, Clone)]
pub struct PortConfigs {
    /// Every port, by number.
    pub ports: Vec<PortConfig>,
    /// The additional options of ports that need a real server, by number.
    pub servers: Vec<(u32, QueuedPortConfig)>,
    /// The shared buffers.
    pub pools: Vec<PoolConfig>,
    /// The links under flow control.
    pub pfc: Vec<PfcConfig>,
}

/// The options of an experiment's ports, checked; by layer, from the hosts up.
#[derive(Debug, Clone)]
pub struct PortOptions {
    /// The processing time of the hosts' ports, ps.
    processing: Time,
    /// The cores of a host that sends, and of one that receives.
    cores: [Service; 2],
    /// Layers that it does not mention drop packet by packet.
    drop_until: Vec<Option<Threshold>>,
    red: Option<Vec<RedConfig>>,
    classes: Vec<Vec<ClassConfig>>,
    pool: Option<PoolConfig>,
    /// The size to which a packet is trimmed, bytes.
    trim: Option<u16>,
    mark_at: MarkAt,
    flow_control: Option<FlowControl>,
    has_fair_hosts: bool,
}

impl PortOptions {
    /// What ports do beyond a queue with a limit and a threshold, those of hosts beyond one for each subflow, in words;
    /// `None` if nothing.
    pub(crate) fn beyond_a_queue(&self) -> Option<&'static str> {
        self.beyond_early_marks().or_else(|| (self.classes.len() > 1).then_some("`classes`"))
    }

    /// What ports do beyond queues, one for each class, with a limit and a threshold, in words; `None` if nothing.
    pub fn beyond_queues(&self) -> Option<&'static str> {
        let fair = || self.has_fair_hosts.then_some("a queue for each subflow (`host_queue = \"fq\"`)");
        self.beyond_early_marks().or_else(fair).or_else(|| self.red.is_some().then_some("`red`"))
    }

    /// The same, if RED may also signal and hosts may serve subflows in turn.
    fn beyond_early_marks(&self) -> Option<&'static str> {
        let options = [
            (self.processing > 0, "`host_processing`"),
            (self.cores != [Service::NONE; 2], "`host_cpu`"),
            (self.drop_until.iter().any(Option::is_some), "`drop_until`"),
            (self.pool.is_some(), "a shared `buffer`"),
            (self.trim.is_some(), "trimming"),
            (self.flow_control.is_some(), "flow control (`pfc`)"),
            (self.mark_at == MarkAt::Departure, "`mark_at = \"departure\"`"),
        ];
        options.into_iter().find_map(|(has, what)| has.then_some(what))
    }

    /// The options of `fabric` for `topology`, which it describes, with these changes of links, and packets of at
    /// most `packet` bytes.
    ///
    /// # Errors
    /// What is wrong, and the key of `[fabric]`.
    pub fn new(fabric: &Fabric, topology: &Topology, changes: &[Change], packet: u32) -> Result<Self, Wrong> {
        let layers = &topology.layer_names;
        let drop_until = drop_until(fabric, topology, changes).map_err(|e| wrong("drop_until", e))?;
        let red = fabric.red.as_ref().map(|r| red(r, layers)).transpose()?;
        let classes = fabric
            .classes
            .iter()
            .zip(0..)
            .map(|(class, i)| {
                classes(fabric, layers, class).map_err(|e| Wrong::new(CLASSES, format!("class {i}: {e}")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        if classes.len() > MAX_CLASSES {
            let message = format!("{} classes: a port has at most {MAX_CLASSES}", classes.len());
            return Err(Wrong::new(CLASSES, message));
        }
        let pool = fabric.buffer.map(|b| buffer(b, packet)).transpose()?;
        let processing = fabric.host_processing.unwrap_or(Duration(0));
        if processing.0 > LONGEST {
            return Err(wrong("host_processing", format!("{processing}: at most 1000s")));
        }
        let cores = cores(fabric).map_err(|e| wrong("host_cpu", e))?;
        let trim = fabric.trim.map(|size| trim(fabric, size, packet)).transpose()?;
        let flow_control = FlowControl::new(fabric, packet)?;
        Ok(Self {
            processing: processing.0,
            cores,
            drop_until,
            red,
            classes,
            pool,
            trim,
            mark_at: fabric.mark_at,
            flow_control,
            has_fair_hosts: fabric.has_fair_hosts(),
        })
    }

    /// How many classes there are, at least 1.
    pub fn classes(&self) -> usize {
        self.classes.len().max(1)
    }

    /// Whether a host's core takes time for what it receives.
    pub fn has_cores(&self) -> bool {
        self.cores[1] != Service::NONE
    }

    /// Whether the ports of a switch share a buffer.
    pub fn shares_buffers(&self) -> bool {
        self.pool.is_some()
    }

    /// Whether switches pause ports.
    pub fn pauses(&self) -> bool {
        self.flow_control.is_some()
    }

    /// The ports of `topology` that serve their subflows in turn: those of hosts, or none.
    pub fn fair_ports(&self, topology: &Topology) -> Vec<u32> {
        let ends = (0..).zip(&topology.network.ends);
        let hosts = ends.filter(|(_, [node, _])| self.has_fair_hosts && *node < topology.network.hosts);
        hosts.map(|(port, _)| port).collect()
    }

    /// The ports of `topology` with these options; `seed` names their random streams. Only switches have these
    /// options, except for the time that a host spends on a packet.
    pub fn apply(&self, topology: &Topology, seed: u64) -> PortConfigs {
        let mut ports = topology.ports(seed);
        let mut servers = Vec::new();
        let hosts = topology.network.hosts;
        for (number, &[node, to]) in (0..).zip(&topology.network.ends) {
            // A link between two hosts has the cores of both.
            let [send, receive] = self.cores;
            let own = [(node, send), (to, receive)];
            let cores = own.map(|(end, core)| if end < hosts { core } else { Service::NONE });
            ports[number].processing = Processing::NONE.on(cores);
            if node < hosts {
                let stream = topology.streams[number];
                ports[number].processing = Processing::new(self.processing, seed, stream).on(cores);
                let plain = QueuedPortConfig::plain(&ports[number]);
                if self.trim.is_some() {
                    servers.push((number as u32, with_priority(plain)));
                } else if self.pauses() {
                    servers.push((number as u32, FlowControl::port(plain, false)));
                }
            }
        }
        let switches = (0..).zip(&topology.network.ends).filter(|(_, [node, _])| *node >= hosts);
        for (number, &[node, _]) in switches {
            let (port, layer) = (&mut ports[number as usize], usize::from(topology.layers[number as usize]));
            let stream = (seed, topology.streams[number as usize]);
            port.drop_until = self.drop_until[layer];
            let red = port.red.or_else(|| self.red.as_ref().map(|red| red[layer]));
            port.red = red.map(|red| RedConfig { stream, ..red });
            let marks_behind = self.mark_at == MarkAt::Departure;
            let is_plain = self.classes.is_empty() && self.pool.is_none() && self.trim.is_none();
            if is_plain && !marks_behind && !self.pauses() {
                continue;
            }
            let mut server = QueuedPortConfig { marks_behind, ..QueuedPortConfig::plain(port) };
            if self.trim.is_some() {
                server = QueuedPortConfig { trim: self.trim, ..with_priority(server) };
            }
            if self.pauses() {
                server = FlowControl::port(server, true);
            }
            for (slot, class) in server.classes.iter_mut().zip(&self.classes) {
                *slot = class[layer];
            }
            server.count = server.count.max(self.classes() as u8);
            server.pool = self.pool.map(|_| node - hosts);
            servers.push((number, server));
        }
        let switches = topology.network.nodes - hosts;
        let pools = self.pool.map(|pool| vec![pool; switches as usize]);
        let pfc = self.flow_control.map(|own| own.links(topology, &ports, self.processing));
        PortConfigs { ports, servers, pools: pools.unwrap_or_default(), pfc: pfc.unwrap_or_default() }
    }
}

impl PortOptions {
    /// Gives every port of a switch a real server, so that what it writes into packets is its state when they
    /// leave.
    pub fn queue_switches(&self, topology: &Topology, configs: &mut PortConfigs) {
        let mut has_one = vec![false; configs.ports.len()];
        configs.servers.iter().for_each(|(port, _)| has_one[*port as usize] = true);
        let hosts = topology.network.hosts;
        for (port, [node, _]) in (0..).zip(&topology.network.ends) {
            if *node >= hosts && !has_one[port as usize] {
                configs.servers.push((port, QueuedPortConfig::plain(&configs.ports[port as usize])));
            }
        }
    }
}

/// The cores of a host that sends, and of one that receives.
fn cores(fabric: &Fabric) -> Result<[Service; 2], String> {
    match &fabric.host_cpu {
        None => Ok([Service::NONE; 2]),
        Some(_) if fabric.pfc.is_some() => {
            Err("packets that wait for a core are in no queue that a switch could pause: leave out `pfc`"
                .to_owned())
        }
        Some(HostCpu::Costs(costs)) => costs.cores(),
        Some(HostCpu::File(file)) => unreachable!("{file} has been read"),
    }
}

/// A port with one class, and a second one for headers and ACKs that goes before it.
fn with_priority(port: QueuedPortConfig) -> QueuedPortConfig {
    QueuedPortConfig { count: 2, priority: true, ..port }
}

/// The size to which packets of at most `packet` bytes are trimmed.
fn trim(fabric: &Fabric, size: Bytes, packet: u32) -> Result<u16, Wrong> {
    if !fabric.classes.is_empty() {
        return Err(wrong(
            "trim",
            "a port that trims has its own two classes: leave out `classes`".to_owned(),
        ));
    }
    match u16::try_from(size.0) {
        Ok(bytes @ 1..) if u64::from(bytes) < u64::from(packet) => Ok(bytes),
        _ => Err(wrong("trim", format!("{size}: above 0 and less than a packet, {packet} bytes"))),
    }
}

/// By layer: the length to which a full queue drains before it admits packets again.
fn drop_until(
    fabric: &Fabric,
    topology: &Topology,
    changes: &[Change],
) -> Result<Vec<Option<Threshold>>, String> {
    const ONE_BY_ONE: &str = "drops packet by packet: leave out this key";
    let is_behind = fabric.mark_at == MarkAt::Departure;
    let layers = &topology.layer_names;
    let Some(lengths) = &fabric.drop_until else { return Ok(vec![None; layers.len()]) };
    let is_queued = fabric.buffer.is_some() || fabric.trim.is_some() || fabric.pfc.is_some() || is_behind;
    if !fabric.classes.is_empty() || is_queued {
        let one = "a port with `classes`, `trim`, `pfc`, a shared `buffer` or `mark_at = \"departure\"`";
        return Err(format!("{one} {ONE_BY_ONE}"));
    }
    lengths.known(layers)?;
    let lengths: Vec<_> = layers.iter().map(|layer| lengths.of(layer).map(Threshold::from)).collect();
    for (port, config) in (0..).zip(&topology.configs) {
        let is_nic = topology.network.ends[port as usize][0] < topology.network.hosts;
        let length = lengths[usize::from(topology.layers[port as usize])];
        let Some(length) = length.filter(|_| !is_nic) else { continue };
        let [from, to] = topology.end_names(port);
        if !length.is_below(config.limit) {
            let (length, limit) = (Queue::from(length), Queue::from(config.limit));
            return Err(format!(
                "{length}, and the limit of the queue from {from} to {to} is {limit}: above 0 and below the limit, in \
                 its unit"
            ));
        }
        if changes.iter().any(|change| change.what.ports().contains(&port)) {
            return Err(format!("the link from {from} to {to} changes, and so its port {ONE_BY_ONE}"));
        }
    }
    Ok(lengths)
}

const CLASSES: [&str; 2] = ["fabric", "classes"];

fn red(red: &Red, layers: &[Arc<str>]) -> Result<Vec<RedConfig>, Wrong> {
    let wrong = |path: [&str; 3], message| Err(Wrong::new(path, message));
    if red.weight > 16 {
        let message = format!("{}: the weight of a new length is 2^-weight, with 0 to 16", red.weight);
        return wrong(["fabric", "red", "weight"], message);
    }
    if red.probability.parts() >> 16 == 0 {
        let message = format!("{}: RED signals with a probability of 2^-16 to 1", red.probability);
        return wrong(["fabric", "red", "probability"], message);
    }
    let mut configs = Vec::new();
    let lengths =
        |key: [&'static str; 3], v: &Layered<Queue>| v.layers(layers).map_err(|e| Wrong::new(key, e));
    let mins = lengths(["fabric", "red", "min"], &red.min)?;
    for (min, max) in mins.into_iter().zip(lengths(["fabric", "red", "max"], &red.max)?) {
        configs.push(red.config(min, max).map_err(|e| Wrong::new(["fabric", "red", "max"], e))?);
    }
    Ok(configs)
}

fn classes(fabric: &Fabric, layers: &[Arc<str>], class: &Class) -> Result<Vec<ClassConfig>, String> {
    if !(1..=1_000_000_000).contains(&class.quantum.0) {
        return Err(format!("a quantum of {}: 1B to 1GB", class.quantum));
    }
    if class.mark.is_some() && class.share.is_some() {
        return Err("`mark` and `share` both set K: leave out one of them".into());
    }
    if let Some(share) = class.share
        && !(1..=LONGEST).contains(&share.rtt.0)
    {
        return Err(format!("share.rtt = {}: more than 0, at most 1000s", share.rtt));
    }
    let queue = class.queue.as_ref().or(fabric.queue.as_ref());
    let limits =
        queue.ok_or("its `queue`, or that of all classes in [fabric], is missing")?.layers(layers)?;
    let marks = class.mark.as_ref().unwrap_or(&fabric.mark).layers(layers)?;
    let config = |(limit, mark): (Queue, Mark)| ClassConfig {
        quantum: class.quantum.0 as u32,
        limit: limit.into(),
        mark: match class.share {
            Some(Share { rtt, lambda }) => ClassMark::Share { rtt: rtt.0, lambda: lambda.thousandths() },
            None => ClassMark::Above(mark.length().into()),
        },
    };
    Ok(limits.into_iter().zip(marks).map(config).collect())
}

fn buffer(buffer: Buffer, packet: u32) -> Result<PoolConfig, Wrong> {
    if buffer.size.0 < u64::from(packet) {
        let message = format!("{}: not even one packet of {packet} bytes fits", buffer.size);
        return Err(Wrong::new(["fabric", "buffer", "size"], message));
    }
    Ok(PoolConfig { bytes: buffer.size.0, alpha: buffer.alpha.thousandths() })
}
