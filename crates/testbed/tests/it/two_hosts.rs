use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use tresse_fabric::Threshold;
use tresse_testbed::{Clock, Namespace, Scale, clean};
use tresse_units::{MICROSECOND, MILLISECOND, SECOND};

use crate::{A, B, Pair, port, skipped};

const PORT: u16 = 5000;

fn socket(host: &Namespace, address: SocketAddrV4) -> UdpSocket {
    let socket = host.within(|| UdpSocket::bind(address)).expect("the namespace").expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(2))).expect("a time");
    socket
}

#[test]
fn a_round_trip_takes_what_the_links_take() {
    if skipped() {
        return;
    }
    let delay = 2 * MILLISECOND;
    let pair = Pair::new("rtt", port(100_000_000, delay, 100, Threshold::UNLIMITED));
    let (a, b) = (SocketAddrV4::new(A, PORT), SocketAddrV4::new(B, PORT));
    let (ours, theirs) = (socket(&pair.a, a), socket(&pair.b, b));
    let echo = thread::spawn(move || {
        let mut buffer = [0; 2000];
        while let Ok((length, from)) = theirs.recv_from(&mut buffer) {
            if length == 1 || theirs.send_to(&buffer[..length], from).is_err() {
                break;
            }
        }
    });
    let clock = Clock::start(Scale::WHOLE);
    let mut least = u64::MAX;
    for n in 0..50 {
        let message = [n; 972];
        let start = clock.now();
        ours.send_to(&message, b).expect("it is sent");
        let mut buffer = [0; 2000];
        let (length, _) = ours.recv_from(&mut buffer).expect("it comes back");
        assert_eq!(buffer[..length], message);
        least = least.min(clock.now() - start);
    }
    ours.send_to(&[0], b).expect("it is sent");
    echo.join().expect("it ends");
    // 1000 bytes with UDP's and IP's headers, there and back.
    let wire = 2 * (delay + 1000 * 8 * SECOND / 100_000_000);
    assert!((wire..wire + MILLISECOND).contains(&least), "{least} ps, of which {wire} are the links'");
    pair.emulator.stop().expect("it ran");
}

/// Sends this many megabytes over TCP from one host to the other. Returns the time, s.
fn transfer(pair: &Pair, megabytes: usize) -> f64 {
    let to = SocketAddrV4::new(B, PORT);
    let listener = pair.b.within(|| TcpListener::bind(to)).expect("the namespace").expect("a socket");
    let receiver = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let (mut buffer, mut expected) = (vec![0; 1 << 16], 0_u64);
        loop {
            let length = stream.read(&mut buffer).expect("it is whole");
            if length == 0 {
                return expected;
            }
            for byte in &buffer[..length] {
                assert_eq!(*byte, (expected % 251) as u8, "byte {expected}");
                expected += 1;
            }
        }
    });
    let mut stream = pair.a.within(|| TcpStream::connect(to)).expect("the namespace").expect("a connection");
    let bytes: Vec<u8> = (0..megabytes * 1_000_000).map(|n| (n % 251) as u8).collect();
    let clock = Clock::start(Scale::WHOLE);
    stream.write_all(&bytes).expect("it is taken");
    drop(stream);
    assert_eq!(receiver.join().expect("it is whole"), bytes.len() as u64);
    clock.now() as f64 / SECOND as f64
}

#[test]
fn tcp_fills_a_link_and_every_byte_arrives() {
    if skipped() {
        return;
    }
    let pair = Pair::new("tcp", port(200_000_000, 500 * MICROSECOND, 100, Threshold::UNLIMITED));
    let seconds = transfer(&pair, 20);
    // 1448 of 1500 bytes are payload.
    let rate = 20e6 * 8.0 / seconds / (200e6 * 1448.0 / 1500.0);
    assert!((0.7..=1.0).contains(&rate), "it had {rate} of the link");
    let (lost, strays, drops) = pair.emulator.with(|switch| {
        let drops = switch.fabric.ports().iter().map(|port| port.counters().drops).sum::<u64>();
        (switch.lost(), switch.strays(), drops)
    });
    assert_eq!(lost, drops);
    // Neighbour discovery of IPv6 is not IPv4.
    assert!(strays < 50, "{strays}");
    let late = pair.emulator.lateness();
    // Every segment; how many ACKs depends on how busy the machine is.
    assert!(late.histogram.count() > 20_000_000 / 1448 && late.refused == 0, "{}", late.histogram.count());
    let late = |share| late.histogram.quantile(share, 100).unwrap_or(0);
    eprintln!("late: p50 {} ns, p99 {} ns, max {} ns", late(50), late(99), late(100));
}

#[test]
fn a_queue_above_k_marks_instead_of_dropping() {
    if skipped() {
        return;
    }
    let pair = Pair::new("ecn", port(100_000_000, 500 * MICROSECOND, 400, Threshold::packets(20)));
    for host in [&pair.a, &pair.b] {
        host.sysctl("ipv4/tcp_ecn", "1").expect("it can be set");
    }
    transfer(&pair, 10);
    let (lost, counters) = pair.emulator.with(|switch| (switch.lost(), switch.fabric.ports()[0].counters()));
    assert!(counters.marks > 5, "{counters:?}");
    assert_eq!(lost, 0, "TCP answers a mark as it does a loss");
}

#[test]
fn nothing_is_left() {
    if skipped() {
        return;
    }
    let name = {
        let pair = Pair::new("gone", port(100_000_000, MILLISECOND, 10, Threshold::UNLIMITED));
        pair.a.name().to_owned()
    };
    assert!(!std::path::Path::new("/run/netns").join(&name).exists());
    // A namespace as if left by a killed process: no process has this number.
    let left = "tresse-bed-2147483646-a";
    let made = std::process::Command::new("ip").args(["netns", "add", left]).status();
    assert!(made.is_ok_and(|status| status.success()));
    assert!(clean().expect("they can be removed").contains(&left.to_owned()));
    assert!(!std::path::Path::new("/run/netns").join(left).exists());
}
