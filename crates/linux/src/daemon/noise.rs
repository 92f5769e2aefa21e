//! Noise as input of the daemon: kernel messages, its configuration, and the lives of connections. Nothing
//! may panic, and a connection must stay within its limits.
//!
//! `PROPTEST_CASES=1000000 cargo test -p tresse-linux --lib noise` runs for about an hour.

use std::net::SocketAddr;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use tresse_path_manager::{MAX_SUBFLOWS, Memory};
use tresse_units::MICROSECOND;

use super::config::Config;
use super::connection::{Command, Connection, Decision};
use crate::tcp_info::TcpInfo;
use crate::{netlink, path_manager, sock_diag};

/// Many times as many cases as proptest's setting (`PROPTEST_CASES`), most in `make test-all`.
fn many() -> ProptestConfig {
    let own = ProptestConfig::default();
    let times = if std::env::var_os("TRESSE_TEST_ALL").is_some() { 50 } else { 8 };
    ProptestConfig { cases: own.cases.saturating_mul(times), ..own }
}

/// Attributes as the kernel writes them, some nested, and some with a wrong length.
fn attributes() -> impl Strategy<Value = Vec<u8>> {
    let one = |kind: u16, value: Vec<u8>, lie: Option<u16>| {
        let length = lie.unwrap_or(value.len() as u16 + 4);
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend(&value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let value = prop_oneof![vec(any::<u8>(), 0..20), vec(any::<u8>(), 240..260)];
    let leaf = (0u16..24, value, prop::option::weighted(0.05, any::<u16>()));
    let leaf = leaf.prop_map(move |(kind, value, lie)| one(kind, value, lie));
    let nested = leaf.prop_recursive(3, 24, 6, move |inner| {
        (0u16..24, vec(inner, 0..6), any::<bool>())
            .prop_map(move |(kind, inner, flag)| one(kind | u16::from(flag) << 15, inner.concat(), None))
    });
    vec(nested, 0..12).prop_map(|all| all.concat())
}

/// A message's head and attributes, cut off anywhere.
fn message(head: usize) -> impl Strategy<Value = Vec<u8>> {
    (vec(any::<u8>(), head), 0u8..20, attributes(), prop::option::weighted(0.2, any::<prop::sample::Index>()))
        .prop_map(|(mut bytes, kind, attributes, cut)| {
            bytes[0] = kind;
            bytes.extend(attributes);
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len() + 1));
            }
            bytes
        })
}

/// A valid file.
const FILE: &str = r#"
[daemon]
namespaces = ["current", "blue"]
socket = "/run/x.sock"
look = "20ms"
subflows = 100
subflows_per_s = 10

[[policy]]
name = "storage"
to = ["10.1.0.0/16", "10.2.0.7", "2001:db8::/32"]
ports = [2049, "5000-5100"]
manager = "opn"
parameters = { timer_1 = "fixed", delta = 5000, timer_2 = 1000000 }
after = "1MB"
paths = 8
shift = "reopen"

[[policy]]
name = "guests"
namespaces = ["blue"]
manager = "path-sharing"
addresses = ["10.3.0.2"]
parameters = { gamma = 10, theta = 3, delta = 10, closes = "second" }
"#;

/// Changes to a text: position, number of bytes removed, and replacement.
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, String)>> {
    let word = prop_oneof![
        "[ -~\n]{0,4}",
        prop::sample::select(vec![
            "\"",
            "[",
            "]",
            "{",
            "}",
            "=",
            "-1",
            "0",
            "18446744073709551615",
            "18446744073709551616",
            "1e9",
            "true",
            "\"1PB\"",
            "\"99999999999s\"",
            "\"0-65535\"",
            "\"::/0\"",
            "mmptcp",
            "off",
            "fixed",
            "[[policy]]",
            "é",
        ])
        .prop_map(str::to_owned),
    ];
    vec((any::<prop::sample::Index>(), 0usize..8, word), 0..4)
}

/// An event of a connection.
#[derive(Debug, Clone)]
enum Step {
    Joined(usize),
    Gone(usize),
    Seen {
        subflow: usize,
        sent: u32,
        acked: u32,
        marks: u32,
        srtt: u32,
    },
    /// Time passes, and everything due is served.
    Later(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0usize..8).prop_map(Step::Joined),
        1 => (0usize..8).prop_map(Step::Gone),
        4 => (0usize..8, 0u32..100, 0u32..100, 0u32..100, any::<u32>()).prop_map(
            |(subflow, sent, acked, marks, srtt)| Step::Seen { subflow, sent, acked, marks, srtt }
        ),
        3 => (0u64..20_000_000).prop_map(Step::Later),
    ];
    vec(step, 0..60)
}

fn ends(port: usize) -> (SocketAddr, SocketAddr) {
    (SocketAddr::from(([10, 0, 0, 1], 40_000 + port as u16)), SocketAddr::from(([10, 0, 0, 2], 80)))
}

const MANAGERS: [&str; 5] = [
    "manager = \"fixed\"\nparameters = { subflows = 4 }",
    "manager = \"opn\"\npaths = 6",
    "manager = \"opn-shifting\"\npaths = 6\nshift = \"reopen\"",
    "manager = \"opn-tuning\"\npaths = 6\nafter = \"10kB\"",
    "manager = \"path-sharing\"\nparameters = { subflows = 3, gamma = 20, theta = 10, delta = 50 }",
];

proptest! {
    #![proptest_config(many())]

    #[test]
    fn messages_of_the_kernel(event in message(4), socket in message(72), bytes in vec(any::<u8>(), 0..300)) {
        path_manager::read(&event);
        sock_diag::subflow(&socket);
        TcpInfo::read(&bytes);
        let mut rest = 0..bytes.len();
        while let Some((_, body)) = netlink::next(&bytes, &mut rest) {
            prop_assert!(body.end <= bytes.len());
        }
    }

    #[test]
    fn configurations(changes in changes()) {
        let mut text = FILE.to_owned();
        for (place, length, word) in changes {
            let floor = |mut at: usize| {
                while !text.is_char_boundary(at) { at -= 1 }
                at
            };
            let from = floor(place.index(text.len() + 1));
            let to = floor((from + length).min(text.len())).max(from);
            text.replace_range(from..to, &word);
        }
        if let Err(told) = Config::parse(&text) {
            prop_assert!(!told.is_empty());
        }
    }

    #[test]
    fn lives_of_connections(manager in prop::sample::select(&MANAGERS[..]), steps in steps()) {
        let config = Config::parse(&format!("[[policy]]\nname = \"all\"\n{manager}\n")).expect("it is right");
        let policy = Arc::clone(&config.policies[0]);
        let (mut losses, mut now) = (Memory::default(), 0);
        let mut own = Connection::new(policy, ends(0), Vec::new(), 7);
        let mut decided = own.start(now, &mut losses);
        let mut seen = [TcpInfo::read(&[0; TcpInfo::SIZE]).expect("it is long enough"); 8];
        for step in steps {
            decided.extend(match step {
                Step::Joined(port) => own.joined(ends(port), now, &mut losses),
                Step::Gone(port) => own.gone(ends(port), now, &mut losses),
                Step::Seen { subflow, sent, acked, marks, srtt } => {
                    let info = &mut seen[subflow];
                    info.segments += u64::from(sent);
                    info.acked += u64::from(acked) * 1448;
                    info.marks += u64::from(marks);
                    (info.srtt, info.outstanding) = (srtt, sent);
                    own.see(ends(subflow), *info, now, &mut losses)
                }
                Step::Later(us) => {
                    now += us * MICROSECOND;
                    let mut all = own.start(now, &mut losses);
                    all.extend(own.serve(now, &mut losses));
                    all
                }
            });
            prop_assert!(own.deadline() > 0 || now == 0);
            let closes = decided.iter().any(|own| matches!(own.command, Command::Close(_)));
            prop_assert!(!closes || own.open().count() > 0, "nothing is left to carry the data");
            for Decision { subflow, command, because } in decided.drain(..) {
                prop_assert!(subflow < own.subflows.len());
                prop_assert!(!because.is_empty() || matches!(command, Command::Close(_)), "{command:?}");
                let known = |port: u16| port == 0 || port >= 40_000;
                match command {
                    Command::Open { from, id, .. } => prop_assert!(from.port() == 0 && id > 0),
                    Command::Close(ends) | Command::SetBackup(ends, _) => prop_assert!(known(ends.0.port())),
                }
            }
            prop_assert!(own.subflows.len() as u64 <= 64 * MAX_SUBFLOWS);
        }
    }
}
