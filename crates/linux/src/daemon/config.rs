//! The daemon's configuration: which connections get which path manager, and their limits.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ipnet::IpNet;
use serde::Deserialize;
use tresse_path_manager::{ConfiguredManager, Declaration, find};
use tresse_units::text_file::read_written;
use tresse_units::{Bytes, Duration, MILLISECOND, Range, Time, Value};

use crate::Error;

/// A checked configuration file.
#[derive(Debug, Clone)]
pub struct Config {
    /// The network namespaces, by name in `ip netns`; `None` is the daemon's own.
    pub namespaces: Vec<Option<String>>,
    /// The socket that `tresse status` connects to.
    pub socket: PathBuf,
    /// The group whose members may connect; root always may.
    pub group: Option<String>,
    /// The file for metrics (for example for node_exporter's textfile collector).
    pub metrics: Option<PathBuf>,
    /// The shortest interval between looks at subflows, ps; longer if it would cost more than 1 % of a core.
    pub look: Time,
    /// Whether subflows that are silent are looked at at once.
    pub alarms: bool,
    /// Subflows that the daemon may have open at a time, over all connections.
    pub subflows: usize,
    /// Subflows that it may open in a second.
    pub subflows_per_s: u32,
    /// The rules; the first one that matches a connection applies.
    pub policies: Vec<Arc<Policy>>,
}

/// A rule: which connections it matches, and what is done with them. Every given condition must hold.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Its name, for people.
    pub name: String,
    /// Prefixes of the other host's address.
    pub to: Vec<IpNet>,
    /// The other host's ports.
    pub ports: Vec<(u16, u16)>,
    pub namespaces: Vec<String>,
    /// The control group, by the inode number of its folder.
    pub cgroup: Option<u64>,
    /// The path manager; without one the connection is left alone.
    pub manager: Option<ConfiguredManager>,
    /// Addresses of this host in addition to the connection's own, for subflows between different addresses.
    pub addresses: Vec<IpAddr>,
    /// How many paths a choice of source port can reach.
    pub paths: u16,
    /// Subflows that a connection may have.
    pub subflows: usize,
    /// Payload that a connection has to send before it gets further subflows, bytes.
    pub after: u64,
    /// Whether a subflow on a SLOW path is closed and opened again later, instead of being a backup.
    pub reopens: bool,
}

/// The forms of a value in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    daemon: Daemon,
    #[serde(default)]
    policy: Vec<PolicyTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Daemon {
    namespaces: Vec<String>,
    socket: PathBuf,
    group: Option<String>,
    metrics: Option<PathBuf>,
    look: Duration,
    alarms: bool,
    subflows: usize,
    subflows_per_s: u32,
}

impl Default for Daemon {
    fn default() -> Self {
        Self {
            namespaces: Vec::new(),
            socket: SOCKET.into(),
            group: None,
            metrics: None,
            look: Duration(10 * MILLISECOND),
            alarms: false,
            subflows: 100_000,
            subflows_per_s: 10_000,
        }
    }
}

/// Where the daemon listens unless its configuration says otherwise.
pub const SOCKET: &str = "/run/tresse/daemon.sock";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyTable {
    name: String,
    #[serde(default)]
    to: Vec<String>,
    #[serde(default)]
    ports: Vec<Ports>,
    #[serde(default)]
    namespaces: Vec<String>,
    cgroup: Option<PathBuf>,
    manager: String,
    #[serde(default)]
    parameters: BTreeMap<String, toml::Value>,
    #[serde(default)]
    addresses: Vec<IpAddr>,
    paths: Option<u16>,
    subflows: Option<usize>,
    after: Option<Bytes>,
    #[serde(default)]
    shift: Shift,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Ports {
    One(u16),
    Range(String),
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shift {
    Backup,
    #[default]
    Reopen,
}

/// The name that means no path manager.
const OFF: &str = "off";

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// The error, with its position.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |e: &dyn std::fmt::Display| Error::Input(format!("{}: {e}", path.display()));
        let text = read_written(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => wrong(&format!(
                "{e}\n\nhint: `--config FILE` names another file; `tresse daemon --help` shows what to write"
            )),
            _ => wrong(&e),
        })?;
        Self::parse(&text).map_err(|e| wrong(&e))
    }

    /// Parses a text.
    ///
    /// # Errors
    /// The error, with its position.
    pub fn parse(text: &str) -> Result<Self, String> {
        let File { daemon, policy } = toml::from_str(text).map_err(|e| e.to_string())?;
        if policy.is_empty() {
            return Err("it has no [[policy]], so no connection would be managed".to_owned());
        }
        let policies = policy.into_iter().map(|own| {
            let name = own.name.clone();
            Policy::new(own).map(Arc::new).map_err(|e| format!("policy `{name}`: {e}"))
        });
        if daemon.look.0 < MILLISECOND {
            return Err(format!("look = \"{}\": at least 1ms", daemon.look));
        }
        let twice = |(i, name): (usize, &String)| daemon.namespaces[..i].contains(name);
        if let Some((_, name)) = daemon.namespaces.iter().enumerate().find(|own| twice(*own)) {
            return Err(format!("namespaces: `{name}` is named twice"));
        }
        let named = |name: String| (name != OWN).then_some(name);
        let namespaces: Vec<_> = daemon.namespaces.into_iter().map(named).collect();
        let namespaces = if namespaces.is_empty() { vec![None] } else { namespaces };
        let policies: Vec<Arc<Policy>> = policies.collect::<Result<_, _>>()?;
        for policy in &policies {
            let is_managed =
                |name: &&String| namespaces.iter().any(|own| own.as_deref().unwrap_or(OWN) == *name);
            if let Some(other) = policy.namespaces.iter().find(|name| !is_managed(name)) {
                let name = &policy.name;
                return Err(format!("policy `{name}`: `{other}` is not among the `namespaces` of [daemon]"));
            }
        }
        Ok(Self {
            namespaces,
            socket: daemon.socket,
            group: daemon.group,
            metrics: daemon.metrics,
            look: daemon.look.0,
            alarms: daemon.alarms,
            subflows: daemon.subflows,
            subflows_per_s: daemon.subflows_per_s,
            policies,
        })
    }
}

/// The daemon's own namespace, by the name that it has in the file and in `tresse status`.
pub(super) const OWN: &str = "current";

/// The number of paths of a policy that does not set it.
const PATHS: u16 = 8;

/// Multipath TCP identifies an address by a byte; 0 is the connection's own, and 1 the same address for
/// further subflows.
const MOST_ADDRESSES: usize = 254;

impl Policy {
    fn new(table: PolicyTable) -> Result<Self, String> {
        let PolicyTable { name, manager, parameters, addresses, .. } = table;
        let to = table.to.iter().map(|text| prefix(text)).collect::<Result<_, _>>()?;
        let ports = table.ports.iter().map(range).collect::<Result<_, _>>()?;
        let subflows = table.subflows.unwrap_or(tresse_path_manager::MAX_SUBFLOWS as usize);
        let cgroup = table.cgroup.map(|path| inode(&path)).transpose()?;
        let paths = table.paths.unwrap_or(PATHS);
        if paths == 0 || subflows == 0 {
            return Err("`paths` and `subflows` must be at least 1".to_owned());
        }
        if addresses.len() > MOST_ADDRESSES {
            return Err(format!("{} addresses: at most {MOST_ADDRESSES} are allowed", addresses.len()));
        }
        let manager = match &*manager {
            OFF if parameters.is_empty() => None,
            OFF => return Err(format!("`{OFF}` has no parameters")),
            name => Some(configured(name, &parameters, addresses.is_empty())?),
        };
        Ok(Self {
            name,
            to,
            ports,
            namespaces: table.namespaces,
            cgroup,
            manager,
            addresses,
            paths,
            subflows,
            after: table.after.map_or(0, |bytes| bytes.0),
            reopens: table.shift == Shift::Reopen,
        })
    }

    /// Whether a connection to `remote` satisfies all its conditions.
    pub(super) fn meets(&self, namespace: &str, remote: SocketAddr, cgroup: Option<u64>) -> bool {
        let any = |none: bool, one: bool| none || one;
        any(self.to.is_empty(), self.to.iter().any(|prefix| prefix.contains(&remote.ip())))
            && any(self.ports.is_empty(), self.ports.iter().any(|p| (p.0..=p.1).contains(&remote.port())))
            && any(self.namespaces.is_empty(), self.namespaces.iter().any(|own| own == namespace))
            && any(self.cgroup.is_none(), self.cgroup == cgroup)
    }
}

/// The path manager with this name. Between one pair of addresses, subflows differ by their ports unless the
/// file says otherwise.
fn configured(
    name: &str,
    parameters: &BTreeMap<String, toml::Value>,
    one_address: bool,
) -> Result<ConfiguredManager, String> {
    const BY: &str = "by";
    let known: Vec<&str> = tresse_path_manager::all().iter().map(|own| own.name).collect();
    let declaration = find(name)
        .ok_or_else(|| format!("there is no path manager `{name}` ({}, {OFF})", known.join(", ")))?;
    if name == "mmptcp" {
        return Err("`mmptcp` sprays packets, which Linux hosts cannot do".to_owned());
    }
    let mut settings = Vec::new();
    for (name, value) in parameters {
        settings.push((&**name, setting(declaration, name, value)?));
    }
    let has = |name: &str| declaration.parameters.iter().any(|own| own.name == name);
    if one_address && has(BY) && !parameters.contains_key(BY) {
        settings.push((BY, Value::Choice("port".to_owned())));
    }
    ConfiguredManager::new(declaration, settings).map_err(|e| e.to_string())
}

fn setting(declaration: &Declaration, name: &str, value: &toml::Value) -> Result<Value, String> {
    let wrong =
        |what: &str| format!("parameter `{name}` of {}: expected {what}, not {value}", declaration.name);
    let whole = |value: &toml::Value| value.as_integer().and_then(|n| u64::try_from(n).ok());
    let range = declaration.parameters.iter().find(|own| own.name == name).map(|own| own.range);
    match range {
        // The name is wrong: the error lists the existing names.
        None => Ok(Value::Whole(0)),
        Some(Range::Choice(_)) => {
            value.as_str().map(|text| Value::Choice(text.to_owned())).ok_or_else(|| wrong("a word"))
        }
        Some(Range::List { .. }) => {
            let list = value.as_array().and_then(|list| list.iter().map(whole).collect());
            list.map(Value::List).ok_or_else(|| wrong("a list of whole numbers"))
        }
        Some(_) => whole(value).map(Value::Whole).ok_or_else(|| wrong("a whole number")),
    }
}

/// A prefix such as `10.0.0.0/8`, or an address.
fn prefix(text: &str) -> Result<IpNet, String> {
    text.parse()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| format!("`{text}` is neither an address nor a prefix such as 10.0.0.0/8"))
}

/// A port, or a range such as `5000-5100`.
fn range(ports: &Ports) -> Result<(u16, u16), String> {
    let text = match ports {
        Ports::One(port) => return Ok((*port, *port)),
        Ports::Range(text) => text,
    };
    let ends = text.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    ends.filter(|(from, to)| from <= to)
        .ok_or_else(|| format!("`{text}` is not a range of ports such as 5000-5100"))
}

/// The inode number of a control group's folder, by which sockets identify it.
fn inode(path: &Path) -> Result<u64, String> {
    let folder = Path::new("/sys/fs/cgroup").join(path.strip_prefix("/").unwrap_or(path));
    let found = fs::metadata(&folder).map_err(|e| format!("cgroup {}: {e}", folder.display()))?;
    Ok(found.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
[daemon]
namespaces = ["current", "blue"]
look = "20ms"

[[policy]]
name = "storage"
to = ["10.1.0.0/16", "10.2.0.7"]
ports = [2049, "5000-5100"]
manager = "fixed"
parameters = { subflows = 8 }
after = "1MB"

[[policy]]
name = "guests"
namespaces = ["blue"]
manager = "path-sharing"
addresses = ["10.3.0.2"]

[[policy]]
name = "rest"
manager = "off"
"#;

    fn wrong(change: impl Fn(&str) -> String) -> String {
        Config::parse(&change(FILE)).expect_err("it is wrong")
    }

    #[test]
    fn the_first_rule_that_a_connection_meets_is_its_own() {
        let config = Config::parse(FILE).expect("it is right");
        let of = |namespace: &str, to: &str| {
            let to = to.parse().expect("an address");
            let mut policies = config.policies.iter();
            &*policies.find(|own| own.meets(namespace, to, None)).expect("the last one has no condition").name
        };
        assert_eq!(of("current", "10.1.2.3:5050"), "storage");
        assert_eq!(of("current", "10.2.0.7:2049"), "storage");
        assert_eq!(of("current", "10.2.0.8:2049"), "rest");
        assert_eq!(of("current", "10.1.2.3:80"), "rest");
        assert_eq!(of("blue", "10.1.2.3:80"), "guests");
        assert_eq!((config.policies[0].after, config.look), (1_000_000, 20 * MILLISECOND));
        assert!(config.policies[2].manager.is_none());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (from, to, told) in [
            ("look = \"20ms\"", "lok = \"20ms\"", "unknown field `lok`"),
            ("look = \"20ms\"", "look = \"20us\"", "at least 1ms"),
            ("[\"current\", \"blue\"]", "[\"blue\", \"blue\"]", "`blue` is named twice"),
            ("[\"current\", \"blue\"]", "[\"red\"]", "policy `guests`: `blue` is not among"),
            (
                "\"10.1.0.0/16\"",
                "\"10.1.0.0/33\"",
                "policy `storage`: `10.1.0.0/33` is neither an address nor a prefix",
            ),
            ("5000-5100", "5100-5000", "is not a range of ports"),
            ("\"fixed\"", "\"fix\"", "there is no path manager `fix` (fixed, mmptcp, opn"),
            ("\"fixed\"", "\"mmptcp\"", "which Linux hosts cannot do"),
            ("subflows = 8", "subflows = 65", "subflows"),
            ("subflows = 8", "subflows = \"8\"", "a whole number"),
            ("subflows = 8", "sub = 8", "sub"),
            ("after = \"1MB\"", "paths = 0", "at least 1"),
            ("after = \"1MB\"", "cgroup = \"no/such\"", "cgroup /sys/fs/cgroup/no/such"),
        ] {
            let error = wrong(|file| file.replacen(from, to, 1));
            assert!(error.contains(told), "{to}: {error}");
        }
        assert!(Config::parse("[daemon]").expect_err("no rule").contains("no [[policy]]"));
    }
}
