//! The public API of noq over real sockets: two paths of a connection, 127.0.0.1 and 127.0.0.2.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use noq::rustls::RootCertStore;
use noq::rustls::pki_types::PrivatePkcs8KeyDer;
use noq::{
    ClientConfig, Connection, Endpoint, FourTuple, Path, PathId, PathStatus, ServerConfig, TransportConfig,
};

use crate::factory;

const BYTES: usize = 20_000_000;

fn transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    config.max_concurrent_multipath_paths(2).initial_rtt(Duration::from_millis(5));
    config
}

/// An endpoint that receives one stream.
fn server() -> (SocketAddr, ClientConfig, tokio::task::JoinHandle<usize>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a valid name");
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
    let mut config = ServerConfig::with_single_cert(vec![made.cert.der().clone()], key).expect("both match");
    config.transport_config(Arc::new(transport()));
    let endpoint = Endpoint::server(config, (Ipv4Addr::UNSPECIFIED, 0).into()).expect("a free port");
    let port = endpoint.local_addr().expect("it is bound").port();
    let received = tokio::spawn(async move {
        let connection = endpoint.accept().await.expect("a client").await.expect("a handshake");
        let mut stream = connection.accept_uni().await.expect("a stream");
        let bytes = stream.read_to_end(BYTES).await.expect("the whole stream").len();
        connection.close(0u32.into(), b"");
        endpoint.wait_all_draining().await;
        bytes
    });
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("it is a certificate");
    let client = ClientConfig::with_root_certificates(Arc::new(roots)).expect("there is a root");
    ((Ipv4Addr::LOCALHOST, port).into(), client, received)
}

/// The second path, as soon as the server has given connection IDs for it.
async fn second_path(connection: &Connection, port: u16) -> Path {
    let there = FourTuple::from_remote((Ipv4Addr::new(127, 0, 0, 2), port).into());
    loop {
        if let Ok(path) = connection.open_path(there, PathStatus::Available).await {
            return path;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn both_paths_carry_data() {
    let (address, mut config, received) = server();
    let mut sender = transport();
    sender.congestion_controller_factory(factory("lia"));
    config.transport_config(Arc::new(sender));
    let client = Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into()).expect("a free port");
    let connecting = client.connect_with(config, address, "localhost").expect("the address is valid");
    let connection = connecting.await.expect("a handshake");
    let second = second_path(&connection, address.port()).await;
    let first = connection.path(PathId::ZERO).expect("it is open");

    let mut stream = connection.open_uni().await.expect("the server allows streams");
    stream.write_all(&vec![7; BYTES]).await.expect("the server reads");
    stream.finish().expect("it is open");
    assert_eq!(received.await.expect("the server does not panic"), BYTES);
    for path in [first, second] {
        let stats = path.stats();
        assert!(stats.udp_tx.bytes > 50_000, "{stats:?}");
        assert!(stats.cwnd >= 2400, "{stats:?}");
    }
}
