//! The NBD protocol, as far as it is served: the fixed newstyle handshake, and reads, writes,
//! trims and flushes with simple replies. Written from the protocol's description (doc/proto.md of
//! NetworkBlockDevice/nbd).
//!
//! A client that sends anything outside the protocol loses its connection.

mod handshake;
mod transmission;

use std::io::{self, Read};

pub(crate) use handshake::shake_hands;
pub(crate) use transmission::{ClientRequest, CommandKind, EINVAL, EIO, ENOSPC, EPERM, ESHUTDOWN, read_request, reply};

/// Bytes that a command may read or write at most.
pub(crate) const MAX_BYTES: u32 = 1 << 25;

fn wrong(says: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, says)
}

fn bytes<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn u16_of(from: &mut impl Read) -> io::Result<u16> {
    Ok(u16::from_be_bytes(bytes(from)?))
}

fn u32_of(from: &mut impl Read) -> io::Result<u32> {
    Ok(u32::from_be_bytes(bytes(from)?))
}

fn u64_of(from: &mut impl Read) -> io::Result<u64> {
    Ok(u64::from_be_bytes(bytes(from)?))
}
