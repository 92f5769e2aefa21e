//! What the ports of switches have beyond one queue with a threshold: random early detection, classes
//! under deficit round robin, a buffer that the ports of a switch share.

use std::sync::Arc;

use tresse_fabric::{
    ClassConfig, ClassMark, MAX_CLASSES, PoolConfig, PortConfig, QueuedPortConfig, RedConfig, Topology,
};
use tresse_units::Queue;

use crate::diagnostic::Wrong;
use crate::keys::bounds::LONGEST;
use crate::keys::fabric::{Fabric, Layered};
use crate::keys::ports::{Buffer, Class, Red, Share};

/// The ports of a network, as a fabric takes them.
#[derive(Debug, Clone)]
pub struct PortConfigs {
    /// Every port, by number.
    pub ports: Vec<PortConfig>,
    /// What those have beyond it that need a real server, by number.
    pub servers: Vec<(u32, QueuedPortConfig)>,
    /// The shared buffers.
    pub pools: Vec<PoolConfig>,
}

/// The options of an experiment's ports, checked; by layer, from the hosts up.
#[derive(Debug, Clone)]
pub struct PortOptions {
    red: Option<Vec<RedConfig>>,
    classes: Vec<Vec<ClassConfig>>,
    pool: Option<PoolConfig>,
}

impl PortOptions {
    /// Those of `fabric`, whose layers have these names, for packets of at most `packet` bytes.
    ///
    /// # Errors
    /// What is wrong, and the key of `[fabric]` where it stands.
    pub fn new(fabric: &Fabric, layers: &[Arc<str>], packet: u32) -> Result<Self, Wrong> {
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
        Ok(Self { red, classes, pool })
    }

    /// How many classes there are, at least 1.
    pub fn classes(&self) -> usize {
        self.classes.len().max(1)
    }

    /// The ports of `topology` with these options; `seed` names their random streams. The NICs of hosts stay
    /// as they are: the options are those of switches.
    pub fn apply(&self, topology: &Topology, seed: u64) -> PortConfigs {
        let mut ports = topology.ports(seed);
        let mut servers = Vec::new();
        let hosts = topology.network.hosts;
        let switches = (0..).zip(&topology.network.ends).filter(|(_, [node, _])| *node >= hosts);
        for (number, &[node, _]) in switches {
            let (port, layer) = (&mut ports[number as usize], usize::from(topology.layers[number as usize]));
            let stream = (seed, topology.streams[number as usize]);
            port.red = self.red.as_ref().map(|red| RedConfig { stream, ..red[layer] });
            if self.classes.is_empty() && self.pool.is_none() {
                continue;
            }
            let mut server = QueuedPortConfig::plain(port);
            for (slot, class) in server.classes.iter_mut().zip(&self.classes) {
                *slot = class[layer];
            }
            server.count = self.classes() as u8;
            server.pool = self.pool.map(|_| node - hosts);
            servers.push((number, server));
        }
        let switches = topology.network.nodes - hosts;
        let pools = self.pool.map(|pool| vec![pool; switches as usize]);
        PortConfigs { ports, servers, pools: pools.unwrap_or_default() }
    }
}

const CLASSES: [&str; 2] = ["fabric", "classes"];

fn red(red: &Red, layers: &[Arc<str>]) -> Result<Vec<RedConfig>, Wrong> {
    let wrong = |path: [&str; 3], message| Err(Wrong::new(path, message));
    if red.weight > 16 {
        let message = format!("{}: the weight of a new length is 2^-weight, with 0 to 16", red.weight);
        return wrong(["fabric", "red", "weight"], message);
    }
    // Parts of 2^16 from parts of 2^32.
    let probability = (red.probability.parts() >> 16) as u32;
    if probability == 0 {
        let message = format!("{}: RED signals with a probability of 2^-16 to 1", red.probability);
        return wrong(["fabric", "red", "probability"], message);
    }
    let mut configs = Vec::new();
    let lengths =
        |key: [&'static str; 3], v: &Layered<Queue>| v.layers(layers).map_err(|e| Wrong::new(key, e));
    let mins = lengths(["fabric", "red", "min"], &red.min)?;
    for (min, max) in mins.into_iter().zip(lengths(["fabric", "red", "max"], &red.max)?) {
        let ordered = match (min, max) {
            (Queue::Packets(min), Queue::Packets(max)) | (Queue::Bytes(min), Queue::Bytes(max)) => {
                min <= max && max < 1 << 31
            }
            _ => false,
        };
        if !ordered {
            let message = format!(
                "from {min} to {max}: both in packets or both in bytes, below 2^31, the first not above the \
                 second"
            );
            return wrong(["fabric", "red", "max"], message);
        }
        configs.push(RedConfig {
            min: min.into(),
            max: max.into(),
            probability,
            weight: red.weight,
            gentle: red.gentle,
            stream: (0, 0),
        });
    }
    Ok(configs)
}

fn classes(fabric: &Fabric, layers: &[Arc<str>], class: &Class) -> Result<Vec<ClassConfig>, String> {
    if !(1..=1_000_000_000).contains(&class.quantum.0) {
        return Err(format!("a quantum of {}: 1B to 1GB", class.quantum));
    }
    if class.mark.is_some() && class.share.is_some() {
        return Err("`mark` and `share` both say its K: leave one of them out".into());
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
    let config = |(limit, mark): (Queue, Queue)| ClassConfig {
        quantum: class.quantum.0 as u32,
        limit: limit.into(),
        mark: match class.share {
            Some(Share { rtt, lambda }) => ClassMark::Share { rtt: rtt.0, lambda: lambda.thousandths() },
            None => ClassMark::Above(mark.into()),
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
