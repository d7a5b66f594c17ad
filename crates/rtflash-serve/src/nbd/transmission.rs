//! Commands and their replies.

use std::io::{self, Read, Write};

use super::{MAX_BYTES, u16_of, u32_of, u64_of, wrong};

const REQUEST: u32 = 0x2560_9513;
const SIMPLE_REPLY: u32 = 0x6744_6698;
/// A write is answered once it is on the disk.
const FORCE_UNIT_ACCESS: u16 = 1;

/// Not permitted.
pub(crate) const EPERM: u32 = 1;
/// The file with the data cannot be read or written.
pub(crate) const EIO: u32 = 5;
/// Not of this device.
pub(crate) const EINVAL: u32 = 22;
/// Beyond the end.
pub(crate) const ENOSPC: u32 = 28;

/// The device has gone.
pub(crate) const ESHUTDOWN: u32 = 108;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandKind {
    Read,
    Write,
    Disconnect,
    Flush,
    Trim,
    /// Known or not, it was not offered.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientRequest {
    pub kind: CommandKind,
    /// Whether its data are to be on the disk before it is answered.
    pub is_forced: bool,
    /// Whether it has flags that were not offered.
    pub has_other_flags: bool,
    /// By which its reply is known.
    pub cookie: u64,
    pub offset: u64,
    pub length: u32,
    pub data: Vec<u8>,
}

/// The next command, with what it writes; `None` where the client has left.
pub(crate) fn read_request(from: &mut impl Read) -> io::Result<Option<ClientRequest>> {
    let mut first = [0; 1];
    if from.read(&mut first)? == 0 {
        return Ok(None);
    }
    let rest: [u8; 3] = super::bytes(from)?;
    if u32::from_be_bytes([first[0], rest[0], rest[1], rest[2]]) != REQUEST {
        return Err(wrong("no command begins so"));
    }
    let (flags, kind) = (u16_of(from)?, u16_of(from)?);
    let (cookie, offset, length) = (u64_of(from)?, u64_of(from)?, u32_of(from)?);
    let kind = match kind {
        0 => CommandKind::Read,
        1 => CommandKind::Write,
        2 => CommandKind::Disconnect,
        3 => CommandKind::Flush,
        4 => CommandKind::Trim,
        _ => CommandKind::Other,
    };
    let mut data = Vec::new();
    if kind == CommandKind::Write {
        if length > MAX_BYTES {
            return Err(wrong("a write is too long"));
        }
        // It grows with what comes, not with what is said to come.
        let read = from.take(length.into()).read_to_end(&mut data)?;
        if u32::try_from(read) != Ok(length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let (is_forced, has_other_flags) = (flags & FORCE_UNIT_ACCESS != 0, flags & !FORCE_UNIT_ACCESS != 0);
    Ok(Some(ClientRequest { kind, is_forced, has_other_flags, cookie, offset, length, data }))
}

pub(crate) fn reply(to: &mut impl Write, cookie: u64, error: u32, data: &[u8]) -> io::Result<()> {
    let mut head = [0; 16];
    head[..4].copy_from_slice(&SIMPLE_REPLY.to_be_bytes());
    head[4..8].copy_from_slice(&error.to_be_bytes());
    head[8..].copy_from_slice(&cookie.to_be_bytes());
    to.write_all(&head)?;
    to.write_all(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write of two bytes, as the protocol has it on the wire.
    const WRITE: [u8; 30] =
        [0x25, 0x60, 0x95, 0x13, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0xaa, 0xbb];

    #[test]
    fn a_write_is_read_with_its_data() {
        let request = read_request(&mut &WRITE[..]).expect("it is whole").expect("there is one");
        assert_eq!((request.kind, request.is_forced, request.has_other_flags), (CommandKind::Write, true, false));
        assert_eq!((request.cookie, request.offset, request.length), (9, 512, 2));
        assert_eq!(request.data, [0xaa, 0xbb]);
    }

    #[test]
    fn what_is_cut_or_begins_otherwise_is_refused() {
        for length in 1..WRITE.len() {
            assert!(read_request(&mut &WRITE[..length]).is_err(), "{length}");
        }
        assert_eq!(read_request(&mut &[][..]).expect("nothing is wrong"), None);
        let mut other = WRITE;
        other[0] = 0;
        assert!(read_request(&mut &other[..]).is_err());
        let mut long = WRITE;
        long[24..28].copy_from_slice(&(MAX_BYTES + 1).to_be_bytes());
        assert!(read_request(&mut &long[..]).is_err());
    }

    #[test]
    fn a_reply_has_the_commands_cookie() {
        let mut bytes = Vec::new();
        reply(&mut bytes, 0x0102, EINVAL, &[7]).expect("there is room");
        assert_eq!(bytes, [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 22, 0, 0, 0, 0, 0, 0, 1, 2, 7]);
    }
}
