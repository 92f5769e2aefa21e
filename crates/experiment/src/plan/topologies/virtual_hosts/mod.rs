//! Machines with several virtual NICs behind the virtual switches of their hosts.

mod mapping;

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::{self as fabric, Topology, VirtualHostsConfig, VirtualHostsError};
use tresse_units::Rate;

use crate::diagnostic::{Wrong, wrong};
use crate::plan::single_links::nodes;
use crate::plan::topologies::kind::{Kind, OwnRoutes};
use crate::plan::topologies::layers::Layers;
use crate::schema::bounds::RATES;
use crate::schema::fabric::Fabric;
use crate::schema::link_events::ChangeKey;
use mapping::Mappings;

pub(crate) const VIRTUAL_HOSTS: Kind = Kind {
    name: "virtual-hosts",
    meaning: "Machines behind the virtual switches of physical hosts (VMCC §III).",
    whose: "that of topology = \"virtual-hosts\"",
    has: "virtual hosts have a table `virtual_hosts`",
    routing: "shortest",
    keys: Kind::keys_of::<Keys>(),
    build,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// For virtual hosts, their description.
    virtual_hosts: Option<VirtualHosts>,
}

/// `[fabric.virtual_hosts]`: virtualised hosts (VMCC §III to §V).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VirtualHosts {
    /// The number of physical hosts.
    hosts: u32,
    /// The number of physical NICs of each; NICs with the same number lead to the same top-of-rack switch.
    nics: u32,
    /// The number of machines (virtual machines or containers) on each; these are the hosts of a workload.
    machines: u32,
    /// The number of virtual NICs of each machine.
    virtual_nics: u32,
    /// The physical NICs that they are mapped to: one mapping for all physical hosts, or one for each.
    mapping: Mappings,
    /// The maximum rate at which a virtual NIC receives. Default: none.
    receive: Option<Rate>,
}

fn build(f: &Fabric, changes: &[ChangeKey]) -> Result<(Topology, OwnRoutes), Wrong> {
    let keys: Keys = f.own_keys()?;
    let Some(v) = keys.virtual_hosts else {
        let example = "virtual_hosts = { hosts = 10, nics = 2, machines = 12, virtual_nics = 2, mapping = \
                       \"disjoint\" }";
        return Err(wrong("topology", format!("virtual hosts need a table such as {example}")));
    };
    let at = |key: &str, message: String| Wrong::new(["fabric", "virtual_hosts", key], message);
    if let Some(rate) = v.receive.filter(|r| !RATES.contains(&r.0)) {
        return Err(at("receive", format!("{rate}: a link's rate is 1kbps to 100Tbps")));
    }
    let layers = Layers::new(f, ["vnic", "nic", "trunk"])?;
    let config = VirtualHostsConfig {
        hosts: v.hosts,
        nics: v.nics,
        machines: v.machines,
        virtual_nics: v.virtual_nics,
        mapping: v.mapping.of(v.hosts),
        rate: layers.rate,
        receive: v.receive.map(|r| r.0),
        delay: layers.delay,
        limit: layers.limit,
        mark: layers.mark,
        host: f.host_port(),
        non_ect: f.non_ect.into(),
        loss: layers.loss,
        spare: Vec::new(),
    };
    let hosts = fabric::VirtualHosts::new(config.clone()).map_err(|e| match e {
        VirtualHostsError::Mappings(..) => at("mapping", e.to_string()),
        _ => wrong("virtual_hosts", e.to_string()),
    })?;
    let spare = spare(f, &hosts, changes)?;
    let hosts = fabric::VirtualHosts::new(VirtualHostsConfig { spare, ..config })
        .map_err(|e| wrong("virtual_hosts", e.to_string()))?;
    Ok((hosts.topology(), OwnRoutes::Virtual(hosts)))
}

/// The links that `changes` need, as numbers of virtual NICs and bridges.
fn spare(f: &Fabric, hosts: &fabric::VirtualHosts, changes: &[ChangeKey]) -> Result<Vec<[u32; 2]>, Wrong> {
    let topology = hosts.topology();
    let virtual_nics = topology.network.hosts;
    let mut spare = Vec::new();
    for (i, names) in (0..).zip(changes).filter_map(|(i, c)| Some((i, c.remap.as_ref()?))) {
        let wrong = |message: String| Wrong::new(["changes", &usize::to_string(&i), "remap"], message);
        let nodes = nodes(&topology, names).map_err(wrong)?;
        let bridge = nodes[1].checked_sub(virtual_nics).filter(|_| names[1].starts_with("bridge "));
        let (Some(bridge), true) = (bridge, nodes[0] < virtual_nics) else {
            return Err(wrong("a virtual NIC and a bridge, such as [\"vnic 0.3.1\", \"bridge 0.1\"]".into()));
        };
        if f.links.iter().any(|link| link.failed && link.ends.contains(&names[0])) {
            let message = format!("`[[fabric.links]]` says that a link of {} is missing", names[0]);
            return Err(wrong(message + ": only a NIC with all its links can be remapped"));
        }
        let link = [nodes[0], bridge];
        if hosts.bridge(nodes[0]) != bridge && !spare.contains(&link) {
            spare.push(link);
        }
    }
    Ok(spare)
}
