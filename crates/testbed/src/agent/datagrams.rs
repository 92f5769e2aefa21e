//! Flows of datagrams.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use socket2::{Domain, Protocol, Socket, Type};

use super::{Carriage, HostReport, sender};
use crate::clock::monotonic;

/// The flows of datagrams of a host.
#[derive(Debug, Default)]
pub(super) struct Datagrams {
    sending: BTreeMap<u64, UdpSocket>,
    receiving: BTreeMap<u64, Receiving>,
}

#[derive(Debug)]
struct Receiving {
    socket: Socket,
    arrived: Arc<AtomicU64>,
    /// The last reported value.
    told: u64,
}

/// The largest payload of a datagram that fits a packet.
const LARGEST: usize = 1472;

impl Datagrams {
    pub fn listen(&mut self, flow: u64, at: SocketAddrV4, how: &Carriage) -> io::Result<()> {
        let socket = socket(at, how)?;
        let arrived = Arc::new(AtomicU64::new(0));
        let own = UdpSocket::from(socket.try_clone()?);
        thread::spawn({
            let arrived = Arc::clone(&arrived);
            move || {
                let mut buffer = [0; LARGEST];
                // Ends when it is shut down.
                while let Ok(length) = own.recv(&mut buffer) {
                    if length == 0 {
                        return;
                    }
                    arrived.fetch_add(length as u64, Ordering::Relaxed);
                }
            }
        });
        self.receiving.insert(flow, Receiving { socket, arrived, told: 0 });
        Ok(())
    }

    pub fn connect(
        &mut self,
        flow: u64,
        from: SocketAddrV4,
        to: SocketAddrV4,
        how: &Carriage,
    ) -> io::Result<()> {
        let socket = UdpSocket::from(socket(from, how)?);
        socket.connect(to)?;
        self.sending.insert(flow, socket);
        Ok(())
    }

    pub fn send(&self, flow: u64, bytes: u32) {
        if let Some(socket) = self.sending.get(&flow) {
            // A datagram that the host's own queue does not accept is lost, as in every queue.
            let _ = socket.send(&[0; LARGEST][..(bytes as usize).min(LARGEST)]);
        }
    }

    /// What has arrived since the last call.
    pub fn news(&mut self) -> impl Iterator<Item = HostReport> + '_ {
        self.receiving.iter_mut().filter_map(|(&flow, own)| {
            let bytes = own.arrived.load(Ordering::Relaxed);
            let is_news = std::mem::replace(&mut own.told, bytes) != bytes;
            is_news.then(|| HostReport::Arrived { flow, bytes, at: monotonic() })
        })
    }

    pub fn remove(&mut self, flow: u64) {
        self.sending.remove(&flow);
        if let Some(own) = self.receiving.remove(&flow) {
            let _ = own.socket.shutdown(std::net::Shutdown::Both); // its thread sees it
        }
    }
}

fn socket(at: SocketAddrV4, how: &Carriage) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    sender::set_class(&socket, how)?;
    socket.bind(&at.into())?;
    Ok(socket)
}
