//! The fixed newstyle handshake: a client asks what there is, and takes an export.

use std::io::{self, Read, Write};

use super::{MAX_BYTES, u16_of, u32_of, u64_of, wrong};
use crate::export::Export;

const GREETING: &[u8; 16] = b"NBDMAGICIHAVEOPT";
const OPTION: u64 = u64::from_be_bytes(*b"IHAVEOPT");
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// Flags of the greeting and of its answer: fixed newstyle, and no zeroes behind an export.
const FIXED: u16 = 1;
const NO_ZEROES: u16 = 2;

const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;

const ACK: u32 = 1;
const SERVER: u32 = 2;
const INFORMATION: u32 = 3;
const UNSUPPORTED: u32 = 1 << 31 | 1;
const INVALID: u32 = 1 << 31 | 3;
const UNKNOWN: u32 = 1 << 31 | 6;
const TOO_BIG: u32 = 1 << 31 | 9;

/// Information about an export: its size and flags, and its block sizes.
const ABOUT_EXPORT: u16 = 0;
const ABOUT_BLOCKS: u16 = 3;

/// Flags of an export.
const HAS_FLAGS: u16 = 1;
const READ_ONLY: u16 = 1 << 1;
const SEND_FLUSH: u16 = 1 << 2;
const SEND_FUA: u16 = 1 << 3;
const SEND_TRIM: u16 = 1 << 5;

/// Bytes that an option may have: names have 4,096 at most.
const MAX_OPTION: u32 = 8_192;
/// Options that a client may send.
const MAX_OPTIONS: u32 = 256;

/// Greets a client, and says which export it takes; `None` where it leaves without one. Fails if
/// the connection breaks, or what comes is not of the protocol.
pub(crate) fn shake_hands(stream: &mut (impl Read + Write), exports: &[Export]) -> io::Result<Option<usize>> {
    stream.write_all(GREETING)?;
    stream.write_all(&(FIXED | NO_ZEROES).to_be_bytes())?;
    let flags = u32_of(stream)?;
    if flags & !u32::from(FIXED | NO_ZEROES) != 0 || flags & u32::from(FIXED) == 0 {
        return Err(wrong("the client is of another kind"));
    }
    let zeroes = flags & u32::from(NO_ZEROES) == 0;
    for _ in 0..MAX_OPTIONS {
        if u64_of(stream)? != OPTION {
            return Err(wrong("no option begins so"));
        }
        let (option, length) = (u32_of(stream)?, u32_of(stream)?);
        if length > MAX_OPTION {
            answer(stream, option, TOO_BIG, &[])?;
            return Err(wrong("an option is too long"));
        }
        let mut data = vec![0; length as usize];
        stream.read_exact(&mut data)?;
        match option {
            EXPORT_NAME => {
                let export = find(exports, &data).ok_or(io::ErrorKind::NotFound)?;
                stream.write_all(&about(&exports[export]))?;
                stream.write_all(&[0; 124][..if zeroes { 124 } else { 0 }])?;
                return Ok(Some(export));
            }
            ABORT => {
                // It need not wait for this.
                let _ = answer(stream, option, ACK, &[]);
                return Ok(None);
            }
            LIST if data.is_empty() => list(stream, exports)?,
            INFO | GO => {
                if let Some(export) = inform(stream, option, &data, exports)?
                    && option == GO
                {
                    return Ok(Some(export));
                }
            }
            LIST => answer(stream, option, INVALID, &[])?,
            _ => answer(stream, option, UNSUPPORTED, &[])?,
        }
    }
    Err(wrong("the client only asks"))
}

fn answer(to: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let length = u32::try_from(data.len()).map_err(|_| wrong("an answer is too long"))?;
    let mut all = Vec::with_capacity(20 + data.len());
    all.extend(OPTION_REPLY.to_be_bytes());
    all.extend([option, kind, length].map(u32::to_be_bytes).as_flattened());
    all.extend(data);
    to.write_all(&all)
}

/// The export of this name; where there is one alone, it has none, too.
fn find(exports: &[Export], name: &[u8]) -> Option<usize> {
    if name.is_empty() && exports.len() == 1 {
        return Some(0);
    }
    exports.iter().position(|export| export.name.as_bytes() == name)
}

fn about(export: &Export) -> [u8; 10] {
    let only = if export.writes.is_none() { READ_ONLY } else { 0 };
    let trims = if export.is_trimmed() { SEND_TRIM } else { 0 };
    let flags = HAS_FLAGS | SEND_FLUSH | SEND_FUA | only | trims;
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&export.size().to_be_bytes());
    bytes[8..].copy_from_slice(&flags.to_be_bytes());
    bytes
}

fn list(to: &mut impl Write, exports: &[Export]) -> io::Result<()> {
    for export in exports {
        let length = u32::try_from(export.name.len()).map_err(|_| wrong("a name is too long"))?;
        let mut data = length.to_be_bytes().to_vec();
        data.extend(export.name.as_bytes());
        answer(to, LIST, SERVER, &data)?;
    }
    answer(to, LIST, ACK, &[])
}

fn inform(to: &mut impl Write, option: u32, data: &[u8], exports: &[Export]) -> io::Result<Option<usize>> {
    let Some(name) = asked_name(data) else {
        answer(to, option, INVALID, &[])?;
        return Ok(None);
    };
    let Some(export) = find(exports, name) else {
        answer(to, option, UNKNOWN, b"no task is called so")?;
        return Ok(None);
    };
    let of = &exports[export];
    let mut information = ABOUT_EXPORT.to_be_bytes().to_vec();
    information.extend(about(of));
    answer(to, option, INFORMATION, &information)?;
    // Asked for or not: what is not of whole pages is refused.
    let mut information = ABOUT_BLOCKS.to_be_bytes().to_vec();
    information.extend([of.page_size, of.page_size, MAX_BYTES].map(u32::to_be_bytes).as_flattened());
    answer(to, option, INFORMATION, &information)?;
    answer(to, option, ACK, &[])?;
    Ok(Some(export))
}

/// The name in what a client asks, behind which are the numbers of what it wants to know.
fn asked_name(mut data: &[u8]) -> Option<&[u8]> {
    let length = u32_of(&mut data).ok()? as usize;
    let name = data.get(..length)?;
    let mut rest = &data[length..];
    let wanted = usize::from(u16_of(&mut rest).ok()?);
    (rest.len() == 2 * wanted).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Wire<'a> {
        sent: &'a [u8],
        got: Vec<u8>,
    }

    impl Read for Wire<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.sent.read(buffer)
        }
    }

    impl Write for Wire<'_> {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            self.got.write(data)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn export(name: &str) -> Export {
        let (page_size, pages, first_page) = (4_096, 8, 0);
        Export { name: name.into(), page_size, pages, first_page, reads: None, writes: None, in_order: false }
    }

    fn option(number: u32, data: &[u8]) -> Vec<u8> {
        let length = u32::try_from(data.len()).expect("short");
        [&b"IHAVEOPT"[..], &number.to_be_bytes(), &length.to_be_bytes(), data].concat()
    }

    fn shake(sent: &[u8]) -> (Option<Option<usize>>, Vec<u8>) {
        let mut wire = Wire { sent, got: Vec::new() };
        let exports = [export("log"), export("camera")];
        (shake_hands(&mut wire, &exports).ok(), wire.got)
    }

    #[test]
    fn a_client_asks_and_takes() {
        let name =
            |name: &str| [&u32::try_from(name.len()).expect("short").to_be_bytes(), name.as_bytes(), &[0, 0]].concat();
        let flags = [0, 0, 0, 3];
        let sent =
            [&flags[..], &option(LIST, &[]), &option(8, &[]), &option(GO, &name("none")), &option(GO, &name("camera"))];
        let (taken, got) = shake(&sent.concat());
        assert_eq!(taken, Some(Some(1)));
        assert!(got.starts_with(b"NBDMAGICIHAVEOPT\0\x03"));
        // Two names and an end; unsupported; unknown with a word; two things to know and an end.
        let lengths = [20 + 4 + 3, 20 + 4 + 6, 20, 20, 20 + 20, 20 + 12, 20 + 14, 20];
        assert_eq!(got.len(), 18 + lengths.iter().sum::<usize>());
        assert_eq!(got[got.len() - 20..][12..16], ACK.to_be_bytes());
        let (taken, got) = shake(&[&[0, 0, 0, 1][..], &option(EXPORT_NAME, b"log")].concat());
        assert_eq!((taken, got.len()), (Some(Some(0)), 18 + 10 + 124));
        assert_eq!(shake(&[&flags[..], &option(ABORT, &[])].concat()).0, Some(None));
        assert_eq!(shake(&[&flags[..], &option(EXPORT_NAME, b"none")].concat()).0, None);
        assert_eq!(shake(&[0, 0, 0, 0]).0, None);
    }

    #[test]
    fn what_is_written_and_owns_no_zones_can_be_trimmed() {
        let flags = |writes: bool, in_order| {
            let writes = writes.then_some(rtflash_plan::SourceId(1));
            let [.., high, low] = about(&Export { writes, in_order, ..export("log") });
            u16::from_be_bytes([high, low])
        };
        assert_eq!([flags(false, false), flags(true, false), flags(true, true)], [0b1111, 0b10_1101, 0b1101]);
    }

    proptest! {
        /// Any bytes end in an export or in an error.
        #[test]
        fn any_bytes_are_answered(options in proptest::collection::vec((0..10u32, proptest::collection::vec(any::<u8>(), 0..20)), 0..6),
                                  tail in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut sent = vec![0, 0, 0, 3];
            options.iter().for_each(|(number, data)| sent.extend(option(*number, data)));
            sent.extend(&tail);
            let _ = shake(&sent);
            let _ = shake(&tail);
        }
    }
}
