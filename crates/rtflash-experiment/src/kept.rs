//! Progress as the bytes of a file, so written that no change of a digit or a bit goes unnoticed.

use std::io;

use crate::progress::Progress;

/// The begin of a file; eight digits of the checksum follow.
const HEAD: &[u8] = b"{\"crc32\":\"";
const MIDDLE: &[u8] = b"\",\"progress\":";
const TAIL: &[u8] = b"}\n";
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// Why bytes are not progress that was kept.
#[allow(missing_docs)] // The messages say it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeptError {
    #[error("it is not what this version of rtflash writes: damaged, or of another version")]
    Form,
    #[error("its checksum is not that of its content: it is damaged, or was changed")]
    Checksum,
    #[error("its content is no progress: {0}")]
    Content(String),
}

impl Progress {
    /// The bytes of a file that keeps it: JSON on one line, with the CRC-32 of all that is counted.
    pub fn to_kept(&self) -> io::Result<Vec<u8>> {
        Ok(framed(&serde_json::to_vec(self)?))
    }

    /// Reads the progress that such bytes keep. Bytes that [`Progress::to_kept`] does not write are
    /// refused, and so are all that differ from what it wrote within any 32 bits in a row: a CRC-32
    /// finds each such change. Whether the counts are those of a plan is for [`Progress::suits`].
    /// Fails if the bytes are not, or no more, what was written.
    pub fn from_kept(bytes: &[u8]) -> Result<Progress, KeptError> {
        let rest = bytes.strip_prefix(HEAD).ok_or(KeptError::Form)?;
        let (_, rest) = rest.split_at_checked(DIGITS).ok_or(KeptError::Form)?;
        let content = rest.strip_prefix(MIDDLE).and_then(|rest| rest.strip_suffix(TAIL)).ok_or(KeptError::Form)?;
        // The checksum as it would be written: there is one way to write it.
        if framed(content) != bytes {
            return Err(KeptError::Checksum);
        }
        serde_json::from_slice(content).map_err(|error| KeptError::Content(error.to_string()))
    }
}

fn framed(content: &[u8]) -> Vec<u8> {
    let checksum = format!("{:0DIGITS$x}", crc32fast::hash(content));
    [HEAD, checksum.as_bytes(), MIDDLE, content, TAIL].concat()
}
