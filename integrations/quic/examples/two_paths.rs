//! A client sends 50 MB to a server in the same process over two paths, 127.0.0.1 and 127.0.0.2. LIA or
//! another controller couples their windows:
//!
//!     cargo run -p tresse-quic --example two_paths -- olia

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use noq::rustls::RootCertStore;
use noq::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use noq::{
    ClientConfig, Connection, Endpoint, FourTuple, Path, PathId, PathStatus, ServerConfig, TransportConfig,
};
use tresse_controllers::{ConfiguredController, find};
use tresse_quic::CoupledFactory;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const BYTES: usize = 50_000_000;

#[tokio::main]
async fn main() -> Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "lia".to_owned());
    let controller =
        find(&name).ok_or_else(|| format!("there is no controller {name}: try lia, olia, balia"))?;
    let scheme = ConfiguredController::new(controller, [])?;
    let factory = CoupledFactory::new(scheme).map_err(|refused| refused.to_string())?;
    let mut transport = two_paths();
    transport.congestion_controller_factory(Arc::new(factory));

    let (address, certificate, server) = serve()?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport));
    let client = Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into())?;
    // This connection's own configuration, because its factory is its own.
    let connection = client.connect_with(config, address, "localhost")?.await?;
    let second = open_second(&connection, address.port()).await;
    let first = connection.path(PathId::ZERO).ok_or("the first path is closed")?;

    let mut stream = connection.open_uni().await?;
    let data = vec![0; BYTES / 10];
    for tenth in 1..=10 {
        stream.write_all(&data).await?;
        print!("{:3} %", tenth * 10);
        for path in [&first, &second] {
            let stats = path.stats();
            print!(
                "   path {}: window {} kB, sent {} kB",
                path.id(),
                stats.cwnd / 1000,
                stats.udp_tx.bytes / 1000
            );
        }
        println!();
    }
    stream.finish()?;
    println!("{} bytes received", server.await??);
    Ok(())
}

fn two_paths() -> TransportConfig {
    let mut config = TransportConfig::default();
    config.max_concurrent_multipath_paths(2);
    config
}

/// A server that receives one stream: its address, its certificate, and the number of bytes at the end.
fn serve() -> Result<(SocketAddr, CertificateDer<'static>, tokio::task::JoinHandle<Result<usize>>)> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
    let mut config = ServerConfig::with_single_cert(vec![certificate.clone()], key)?;
    config.transport_config(Arc::new(two_paths()));
    let endpoint = Endpoint::server(config, (Ipv4Addr::UNSPECIFIED, 0).into())?;
    let address = (Ipv4Addr::LOCALHOST, endpoint.local_addr()?.port()).into();
    let received = tokio::spawn(async move {
        let connection = endpoint.accept().await.ok_or("no client")?.await?;
        let bytes = connection.accept_uni().await?.read_to_end(BYTES).await?.len();
        connection.close(0u32.into(), b"");
        endpoint.wait_all_draining().await;
        Ok(bytes)
    });
    Ok((address, certificate, received))
}

/// Opens the second path, as soon as the server has given connection IDs for it.
async fn open_second(connection: &Connection, port: u16) -> Path {
    let there = FourTuple::from_remote((Ipv4Addr::new(127, 0, 0, 2), port).into());
    loop {
        if let Ok(path) = connection.open_path(there, PathStatus::Available).await {
            return path;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
