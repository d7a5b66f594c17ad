//! The chunks of a bag, decompressed.

use std::io::{self, Read};

use lz4_flex::frame::{Error as Lz4Error, FrameDecoder};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

use super::MAX_RECORD;

/// The content of a chunk: exactly `size` bytes.
pub(super) fn decompress(compression: &str, data: &[u8], size: u64) -> Result<Vec<u8>, String> {
    if size > MAX_RECORD as u64 {
        return Err(format!("a chunk of {size} bytes, more than {MAX_RECORD}"));
    }
    let read = match compression {
        "" => Ok(data.to_vec()),
        "lz4" => frames(data, size, lz4),
        "zstd" => frames(data, size, zstd),
        other => Err(format!("a chunk compressed by `{other}`, which is neither lz4 nor zstd")),
    };
    let content = read.map_err(|error| format!("a chunk that cannot be decompressed: {error}"))?;
    if content.len() as u64 != size {
        return Err(format!("a chunk that says it has {size} bytes and has others"));
    }
    Ok(content)
}

enum ChunkFrame {
    Content,
    /// The head of a frame that readers skip, which has this many bytes more.
    Skippable(u32),
}

/// All frames of a chunk, up to one byte more than `size`.
fn frames(
    mut data: &[u8],
    size: u64,
    decompress_one: impl Fn(&mut &[u8], u64, &mut Vec<u8>) -> Result<ChunkFrame, String>,
) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    while !data.is_empty() && content.len() as u64 <= size {
        let before = data.len();
        let left = size + 1 - content.len() as u64;
        if let ChunkFrame::Skippable(length) = decompress_one(&mut data, left, &mut content)? {
            data = data.get(length as usize..).ok_or("it ends within a frame")?;
        }
        if data.len() == before {
            return Err("it ends within a frame".into());
        }
    }
    Ok(content)
}

fn zstd(data: &mut &[u8], left: u64, content: &mut Vec<u8>) -> Result<ChunkFrame, String> {
    match StreamingDecoder::new(data) {
        Ok(frame) => {
            frame.take(left).read_to_end(content).map_err(|error| error.to_string())?;
            Ok(ChunkFrame::Content)
        }
        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
            Ok(ChunkFrame::Skippable(length))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn lz4(data: &mut &[u8], left: u64, content: &mut Vec<u8>) -> Result<ChunkFrame, String> {
    let skippable = |error: &io::Error| match error.get_ref()?.downcast_ref::<Lz4Error>()? {
        Lz4Error::SkippableFrame(length) => Some(*length),
        _ => None,
    };
    match FrameDecoder::new(data).take(left).read_to_end(content) {
        Ok(_) => Ok(ChunkFrame::Content),
        Err(error) => skippable(&error).map(ChunkFrame::Skippable).ok_or_else(|| error.to_string()),
    }
}
