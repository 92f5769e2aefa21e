//! Real hosts around an emulated fabric: as root, with TUN devices. Elsewhere the tests print what is
//! missing.

mod packets;
mod two_hosts;

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};

use tresse_fabric::{Fabric, Loss, NonEct, PortConfig, Processing, Threshold};
use tresse_testbed::{Emulator, Namespace, Scale, Switch};
use tresse_units::{BitsPerSecond, Time};

/// Whether the machine lacks something, which is printed.
fn skipped() -> bool {
    let missing = if !nix::unistd::Uid::effective().is_root() {
        "root"
    } else if !Path::new("/dev/net/tun").exists() {
        "TUN devices (/dev/net/tun)"
    } else if Command::new("ip").arg("-V").stdout(Stdio::null()).status().is_err() {
        "ip (iproute2)"
    } else {
        return false;
    };
    eprintln!("skipped: the testbed: this machine has no {missing}");
    true
}

/// A link in one direction.
fn port(rate: BitsPerSecond, delay: Time, limit: u32, mark: Threshold) -> PortConfig {
    PortConfig {
        rate,
        delay,
        limit: Threshold::packets(limit.into()),
        drop_until: None,
        mark,
        non_ect: NonEct::Queue,
        red: None,
        loss: Loss::NONE,
        processing: Processing::NONE,
    }
}

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);

/// Two hosts, with this link between them.
struct Pair {
    a: Namespace,
    b: Namespace,
    emulator: Emulator,
}

impl Pair {
    fn new(name: &str, link: PortConfig) -> Self {
        let mut fabric = Fabric::new(&[link, link], 1, 1);
        let routes = [fabric.add_route(&[0]), fabric.add_route(&[1])];
        let mut switch = Switch::new(fabric, &[vec![A], vec![B]]);
        switch.set_usual([0, 1], routes[0]);
        switch.set_usual([1, 0], routes[1]);
        let host = |letter: &str| Namespace::create(&format!("{name}{letter}")).expect("a namespace");
        let (a, b) = (host("a"), host("b"));
        let devices =
            vec![a.join(&[A], 1500).expect("an interface"), b.join(&[B], 1500).expect("an interface")];
        let emulator = Emulator::start(switch, devices, Scale::WHOLE).expect("a fabric");
        Self { a, b, emulator }
    }
}
