//! From a node in a file to what it does.

use std::collections::BTreeSet;

use serde::Deserialize;
use tresse_workload::chakra::{Action, Groups, Kind, Node};

use crate::diagnostic::plain;
use crate::read::chakra::Times;
use crate::read::chakra::schema::{self, COLLECTIVES, NODE_TYPES, Value};

/// A process group, as PyTorch records it.
#[derive(Deserialize)]
struct Group {
    pg_name: String,
    /// Empty means all.
    #[serde(default)]
    ranks: Vec<u32>,
}

/// What a node of `rank` does; computations take their given time, or the time of their operations at `flops`.
pub(super) fn read(
    node: schema::Node,
    rank: u32,
    flops: Option<u64>,
    times: &mut Times,
) -> Result<Node, String> {
    let action = Reader { node: &node, rank, flops }.action(times);
    let action = action.map_err(|e| format!("node {} (`{}`) of rank {rank}: {e}", node.id, node.name))?;
    let mut after = node.ctrl_deps;
    after.extend(node.data_deps);
    Ok(Node { id: node.id, name: node.name, action, after })
}

/// The groups that a node names: PyTorch has a list of them among the inputs of a METADATA node, as JSON inside the
/// text of a Python list.
pub(super) fn groups(node: &schema::Node) -> Result<Groups, String> {
    let values = node.inputs.as_ref().map_or("", |inputs| &inputs.values);
    let (Some(begin), Some(end)) = (values.find("[{"), values.rfind("}]")) else { return Ok(Groups::new()) };
    if NODE_TYPES.get(node.kind as usize) != Some(&"METADATA_NODE") || !values.contains("pg_name") {
        return Ok(Groups::new());
    }
    let list = values.get(begin..end + 2).unwrap_or_default();
    let groups: Vec<Group> = serde_json::from_str(list).map_err(|e| {
        let (name, why) = (&node.name, e.to_string());
        let why = plain(why.split(" at line ").next().unwrap_or_default());
        format!("node {} (`{name}`): its inputs are not a list of process groups in JSON ({why})", node.id)
    })?;
    Ok(groups.into_iter().map(|group| (group.pg_name, group.ranks)).collect())
}

/// The attributes of a communication that are read.
const READ: [&str; 9] = [
    "comm_type",
    "comm_size",
    "comm_src",
    "comm_dst",
    "comm_tag",
    "pg_name",
    "is_cpu_op",
    "involved_dim",
    "num_ops",
];

/// The attribute that a communication of this type cannot do without.
fn peer(kind: &str) -> Option<&'static str> {
    match kind {
        "COMM_SEND_NODE" => Some("comm_dst"),
        "COMM_RECV_NODE" => Some("comm_src"),
        "COMM_COLL_NODE" => Some("comm_type"),
        _ => None,
    }
}

struct Reader<'a> {
    node: &'a schema::Node,
    rank: u32,
    flops: Option<u64>,
}

impl Reader<'_> {
    fn action(&self, times: &mut Times) -> Result<Action, String> {
        let kind = usize::try_from(self.node.kind).ok().and_then(|kind| NODE_TYPES.get(kind)).copied();
        if let Some(peer) = kind.and_then(peer) {
            self.ignored(&mut times.ignored);
            if self.is_cpu_op()? {
                return self.call(peer, times);
            }
        }
        match kind {
            Some("METADATA_NODE") => Ok(Action::Nothing),
            Some("MEM_LOAD_NODE" | "MEM_STORE_NODE" | "COMP_NODE") => self.wait(times).map(Action::Wait),
            Some("COMM_SEND_NODE") => {
                self.is_own("comm_src", "a send is in the file of its sender")?;
                let (to, tag, bytes) = (self.rank_of("comm_dst")?, self.tag()?, self.bytes()?);
                Ok(Action::Send { to, tag, bytes })
            }
            Some("COMM_RECV_NODE") => {
                self.is_own("comm_dst", "a receive is in the file of its receiver")?;
                let (from, tag, bytes) = (self.rank_of("comm_src")?, self.tag()?, self.bytes()?);
                Ok(Action::Receive { from, tag, bytes })
            }
            Some("COMM_COLL_NODE") => {
                self.check_dimensions()?;
                let kind = self.collective()?;
                let bytes = if kind == Kind::Barrier { 0 } else { self.bytes()? };
                Ok(Action::Collective { kind, bytes, group: self.group()? })
            }
            Some(name) => Err(format!("it is an {name}")),
            None => Err(format!("its type is {}, but Chakra 1.0.0 has types 1 to 7", self.node.kind)),
        }
    }

    /// A communication on a CPU is PyTorch's call of it, such as `c10d::allreduce_`; the communication itself is the
    /// kernel, a node of its own.
    fn call(&self, peer: &str, times: &mut Times) -> Result<Action, String> {
        if self.value(peer).is_some() {
            return Err(format!(
                "it is a communication with `{peer}`, but its `is_cpu_op` is true, which ASTRA-sim refuses: leave \
                 `{peer}` out if the kernel is a node of its own, or make `is_cpu_op` false"
            ));
        }
        times.calls += 1;
        self.wait(times).map(Action::Wait)
    }

    fn is_cpu_op(&self) -> Result<bool, String> {
        match self.value("is_cpu_op") {
            None => Ok(false),
            Some(Some(&Value::Bool(is_cpu))) => Ok(is_cpu),
            Some(_) => Ok(self.needed("is_cpu_op")? != 0),
        }
    }

    /// Adds the attributes of a communication that are not read.
    fn ignored(&self, ignored: &mut BTreeSet<String>) {
        let is_unread = |name: &&str| !READ.contains(name);
        ignored.extend(self.node.attr.iter().map(|attr| &*attr.name).filter(is_unread).map(str::to_owned));
    }

    /// ASTRA-sim's dimensions of the network are not in the trace.
    fn check_dimensions(&self) -> Result<(), String> {
        match self.value("involved_dim") {
            Some(Some(Value::Bools(dims))) if dims.values.contains(&false) && self.value("pg_name").is_none() => {
                Err("its `involved_dim` leaves out dimensions, which only ASTRA-sim's network file defines: name \
                     the ranks by `pg_name` and a group of comm_group.json"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    fn value(&self, name: &str) -> Option<Option<&Value>> {
        self.node.attr.iter().find(|attr| attr.name == name).map(|attr| attr.value.as_ref())
    }

    /// The value of a numeric attribute.
    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match value.and_then(Value::number) {
            Some(number) => match u64::try_from(number) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("its `{name}` is {number}, below 0")),
            },
            None => Err(format!("its `{name}` is not a whole number")),
        }
    }

    fn needed(&self, name: &str) -> Result<u64, String> {
        self.number(name)?.ok_or_else(|| format!("it has no `{name}`, which the network needs"))
    }

    fn bytes(&self) -> Result<u64, String> {
        self.needed("comm_size")
    }

    fn tag(&self) -> Result<u64, String> {
        Ok(self.number("comm_tag")?.unwrap_or(0))
    }

    fn rank_of(&self, name: &str) -> Result<u32, String> {
        let rank = self.needed(name)?;
        u32::try_from(rank).map_err(|_| format!("its `{name}` is {rank}, which is not a rank"))
    }

    /// If a node names its own rank, it must be this rank.
    fn is_own(&self, name: &str, why: &str) -> Result<(), String> {
        match self.number(name)? {
            Some(own) if own != u64::from(self.rank) => Err(format!("its `{name}` is {own}: {why}")),
            _ => Ok(()),
        }
    }

    fn collective(&self) -> Result<Kind, String> {
        let number = self.needed("comm_type")?;
        let name = usize::try_from(number).ok().and_then(|number| COLLECTIVES.get(number)).copied();
        Ok(match name {
            Some("ALL_REDUCE") => Kind::AllReduce,
            Some("ALL_GATHER") => Kind::AllGather,
            Some("REDUCE_SCATTER" | "REDUCE_SCATTER_BLOCK") => Kind::ReduceScatter,
            Some("ALL_TO_ALL") => Kind::AllToAll,
            Some("BROADCAST") => Kind::Broadcast,
            Some("BARRIER") => Kind::Barrier,
            Some(name) => {
                let message =
                    "supported are ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BROADCAST, BARRIER";
                return Err(format!("the collective {name} is not simulated: {message}"));
            }
            None => return Err(format!("its `comm_type` is {number}, but Chakra 1.0.0 has 0 to 9")),
        })
    }

    /// The name of its group.
    fn group(&self) -> Result<String, String> {
        match self.value("pg_name") {
            None => Ok(String::new()),
            Some(Some(Value::Text(name))) => Ok(name.clone()),
            Some(_) => Ok(self.needed("pg_name")?.to_string()),
        }
    }

    /// How long it takes, ps.
    fn wait(&self, times: &mut Times) -> Result<u64, String> {
        times.all += 1;
        let (micros, operations) = (self.node.duration_micros, self.number("num_ops")?.unwrap_or(0));
        let time = match (micros, operations, self.flops) {
            (0, 0, _) => {
                times.timeless += 1;
                0
            }
            (0, _, None) => {
                times.counted += 1;
                0
            }
            (0, operations, Some(flops)) => {
                (u128::from(operations) * 1_000_000_000_000).div_ceil(flops.into())
            }
            (micros, ..) => u128::from(micros) * 1_000_000,
        };
        u64::try_from(time).map_err(|_| "it takes more than 2^64 ps".to_owned())
    }
}
