//! How this kernel's send buffers grow, which decides how far one subflow may get ahead of another.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use socket2::{Domain, Socket, Type};

/// The segment of a path with an MTU of 1500 bytes, before options.
const MSS: u32 = 1460;
/// Linux's `TCP_INIT_CWND`.
const FIRST_WINDOW: usize = 10;

/// What a full segment counts when a send buffer grows, bytes (`per_mss` in `tcp_sndbuf_expand`): the next power of two
/// above a segment with the kernel's headers, and an `sk_buff`. The headers depend on how the kernel was built: 4352 in
/// Debian's kernels, 2304 in some for virtual machines. A connection over the loopback interface shows it: when it is
/// established, its buffer holds two first windows.
///
/// `None` if it does not show, because `tcp_wmem` begins with more.
///
/// # Errors
/// If there is no connection over the loopback interface.
pub fn send_segment() -> io::Result<Option<u64>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_tcp_mss(MSS)?;
    // The host's default can be one whose buffers grow further (BBR's `sndbuf_expand`); our controllers do not ask for that.
    socket.set_tcp_congestion(b"reno")?;
    let to: SocketAddr = listener.local_addr()?;
    socket.connect(&to.into())?;
    Ok(segment_of(socket.send_buffer_size()?))
}

fn segment_of(buffer: usize) -> Option<u64> {
    let segment = buffer / (2 * FIRST_WINDOW);
    let is_whole =
        buffer.is_multiple_of(2 * FIRST_WINDOW) && (MSS as usize..=4 * MSS as usize).contains(&segment);
    is_whole.then_some(segment as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_of_two_first_windows_shows_the_segment() {
        assert_eq!(segment_of(46_080), Some(2304));
        assert_eq!(segment_of(87_040), Some(4352));
        assert_eq!(segment_of(131_072), None, "tcp_wmem begins with more");
        assert_eq!(segment_of(16_384), None);
    }

    #[test]
    fn this_kernel_shows_it_or_has_larger_buffers() {
        let own = send_segment().expect("there is a loopback interface");
        assert!(own.is_none_or(|own| own > u64::from(MSS)), "{own:?}");
    }
}
