//! A client that sends, and its server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use noq_proto::rustls::RootCertStore;
use noq_proto::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig,
    Event, FourTuple, PathStatus, ServerConfig, StreamEvent, StreamId, TransportConfig,
};

use super::Factory;

/// A UDP datagram on its way to a side of a pair: 0 is the client, 1 the server.
pub struct Packet {
    pub pair: usize,
    pub side: usize,
    pub path: usize,
    pub ecn: Option<EcnCodepoint>,
    pub data: Vec<u8>,
}

struct Side {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
}

pub struct Pair {
    number: usize,
    sides: [Side; 2],
    pub routes: Vec<usize>,
    pub delay: Duration,
    pub carried: Vec<u64>,
    ready: bool,
    opened: usize,
    stream: Option<StreamId>,
}

/// The address of a side on a path.
fn address(side: usize, path: usize) -> SocketAddr {
    (Ipv4Addr::new(10, 0, side as u8, path as u8), 4433).into()
}

fn path_of(address: IpAddr) -> usize {
    match address {
        IpAddr::V4(v4) => v4.octets()[3].into(),
        IpAddr::V6(_) => panic!("{address} is not of this network"),
    }
}

/// A certificate for all servers, and its key.
static IDENTITY: LazyLock<(CertificateDer<'static>, Vec<u8>)> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a valid name");
    (made.cert.into(), made.signing_key.serialize_der())
});

fn transport(paths: usize, delay: Duration) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .max_concurrent_multipath_paths(paths as u32)
        .initial_rtt(2 * delay)
        .mtu_discovery_config(None)
        .max_idle_timeout(None);
    config
}

impl Pair {
    pub fn new(now: Instant, number: usize, factory: Factory, routes: &[usize], delay: Duration) -> Self {
        let (certificate, key) = &*IDENTITY;
        let key = PrivatePkcs8KeyDer::from(key.clone()).into();
        let mut server = ServerConfig::with_single_cert(vec![certificate.clone()], key).expect("both match");
        server.transport_config(Arc::new(transport(routes.len(), delay)));
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).expect("it is a certificate");
        let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).expect("there is a root");
        let mut sender = transport(routes.len(), delay);
        sender.congestion_controller_factory(factory);
        client.transport_config(Arc::new(sender));

        let endpoint = |side: u8, server| {
            let mut config = EndpointConfig::default();
            config.rng_seed(Some([2 * number as u8 + side; 32]));
            Endpoint::new(Arc::new(config), server, false)
        };
        let mut sides = [
            Side { endpoint: endpoint(0, None), connection: None },
            Side { endpoint: endpoint(1, Some(Arc::new(server))), connection: None },
        ];
        let begun = sides[0].endpoint.connect(now, client, address(1, 0), "localhost");
        sides[0].connection = Some(begun.expect("the address is valid"));
        let (routes, carried) = (routes.to_vec(), vec![0; routes.len()]);
        Self { number, sides, routes, delay, carried, ready: false, opened: 1, stream: None }
    }

    pub fn connection(&mut self, side: usize) -> Option<&mut Connection> {
        self.sides[side].connection.as_mut().map(|(_, connection)| connection)
    }

    pub fn receive(&mut self, now: Instant, packet: Packet) {
        let Packet { side, path, ecn, data, .. } = packet;
        let tuple = FourTuple::new(address(1 - side, path), Some(address(side, path).ip()));
        let Side { endpoint, connection } = &mut self.sides[side];
        let mut answer = Vec::new();
        match endpoint.handle(now, tuple, ecn, BytesMut::from(&*data), &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                *connection = endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                connection.as_mut().expect("one was made").1.handle_event(event);
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// The packets that a side sends now.
    pub fn pump(&mut self, now: Instant, side: usize) -> Vec<Packet> {
        let mut packets = Vec::new();
        self.exchange(side);
        self.read(side);
        if side == 0 {
            self.open_paths(now);
            self.write();
        }
        let Some((_, connection)) = &mut self.sides[side].connection else { return packets };
        let mut data = Vec::new();
        while let Some(sent) = connection.poll_transmit(now, NonZeroUsize::MIN, &mut data) {
            let path = path_of(sent.destination.ip());
            let data = std::mem::take(&mut data);
            packets.push(Packet { pair: self.number, side: 1 - side, path, ecn: sent.ecn, data });
        }
        self.exchange(side);
        packets
    }

    fn exchange(&mut self, side: usize) {
        let Side { endpoint, connection } = &mut self.sides[side];
        let Some((handle, connection)) = connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
    }

    fn read(&mut self, side: usize) {
        let Some((_, connection)) = &mut self.sides[side].connection else { return };
        while let Some(event) = connection.poll() {
            match event {
                Event::HandshakeConfirmed => self.ready |= side == 0,
                Event::ConnectionLost { reason } => panic!("pair {}: {reason}", self.number),
                Event::Stream(StreamEvent::Opened { dir }) => self.stream = connection.streams().accept(dir),
                _ => {}
            }
        }
        if side == 1
            && let Some(id) = self.stream
            && let Ok(mut chunks) = connection.recv_stream(id).read(true)
        {
            while let Ok(Some(_)) = chunks.next(usize::MAX) {}
            let _ = chunks.finalize();
        }
    }

    /// Path 1 and on, as soon as the server has given connection IDs for them.
    fn open_paths(&mut self, now: Instant) {
        let Some((_, connection)) = &mut self.sides[0].connection else { return };
        while self.ready && self.opened < self.routes.len() {
            let tuple = FourTuple::new(address(1, self.opened), Some(address(0, self.opened).ip()));
            if connection.open_path(tuple, PathStatus::Available, now).is_err() {
                return;
            }
            self.opened += 1;
        }
    }

    fn write(&mut self) {
        let Some((_, connection)) = self.sides[0].connection.as_mut().filter(|_| self.ready) else { return };
        let id = match self.stream {
            Some(id) => id,
            None => connection.streams().open(Dir::Uni).expect("the server allows streams"),
        };
        self.stream = Some(id);
        while connection.send_stream(id).write(&[0; 65_536]).is_ok() {}
    }
}
