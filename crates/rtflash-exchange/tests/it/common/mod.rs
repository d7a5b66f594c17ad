//! Bags to read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use mcap::records::MessageHeader;

/// How the chunks of a bag are compressed.
#[derive(Debug, Clone, Copy)]
pub enum Compression {
    None,
    Lz4,
    Zstd,
    NoChunks,
}

/// A bag of messages as (topic, time, bytes of data), by MCAP's own writer.
pub fn write_bag(messages: &[(usize, u64, usize)], compression: Compression) -> Vec<u8> {
    write_bag_with(messages, &[], compression)
}

/// A bag, with attachments as (time, bytes of data) behind the messages.
pub fn write_bag_with(
    messages: &[(usize, u64, usize)],
    attachments: &[(u64, usize)],
    compression: Compression,
) -> Vec<u8> {
    let chunks = !matches!(compression, Compression::NoChunks);
    let options = mcap::WriteOptions::new().compression(None).use_chunks(chunks).chunk_size(Some(20_000));
    let mut bytes = Vec::new();
    let mut writer = mcap::Writer::with_options(Cursor::new(&mut bytes), options).unwrap();
    let mut channels = BTreeMap::new();
    for (sequence, (topic, at, length)) in messages.iter().enumerate() {
        let channel = *channels
            .entry(*topic)
            .or_insert_with(|| writer.add_channel(0, &format!("/topic{topic}"), "raw", &BTreeMap::new()).unwrap());
        let sequence = u32::try_from(sequence).unwrap();
        let header = MessageHeader { channel_id: channel, sequence, log_time: *at, publish_time: *at };
        writer.write_to_known_channel(&header, &vec![7; *length]).unwrap();
    }
    for (at, length) in attachments {
        let (name, media_type) = ("map.bin".to_owned(), String::new());
        let data = Cow::Owned(vec![9; *length]);
        writer.attach(&mcap::Attachment { log_time: *at, create_time: 0, name, media_type, data }).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    match compression {
        Compression::None | Compression::NoChunks => bytes,
        Compression::Lz4 => compressed(&bytes, "lz4", |data| {
            frames(data, |part| {
                let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
                encoder.write_all(part).unwrap();
                encoder.finish().unwrap()
            })
        }),
        Compression::Zstd => compressed(&bytes, "zstd", |data| {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            frames(data, |part| ruzstd::encoding::compress_to_vec(part, level))
        }),
    }
}

/// Two frames, which both belong to the content, among frames that readers skip (of zstd and lz4
/// alike: four bytes of a magic number, a length, and as many bytes).
fn frames(data: &[u8], compress: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (first, second) = data.split_at(data.len() / 3);
    let skipped = |number: u8, content: &[u8]| {
        [&[number, 0x2a, 0x4d, 0x18][..], &u32::try_from(content.len()).unwrap().to_le_bytes(), content].concat()
    };
    [skipped(0x50, b"any"), compress(first), skipped(0x5f, &[0; 300]), compress(second), skipped(0x53, b"")].concat()
}

/// The bag up to the end of its data, its chunks compressed.
fn compressed(bag: &[u8], name: &str, compress: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let magic = &bag[..8];
    let mut out = magic.to_vec();
    let mut rest = &bag[8..bag.len() - 8];
    while !rest.is_empty() {
        let length = usize::try_from(u64::from_le_bytes(rest[1..9].try_into().unwrap())).unwrap();
        let (opcode, body) = (rest[0], &rest[9..9 + length]);
        rest = &rest[9 + length..];
        let body = match (opcode, mcap::parse_record(opcode, body).unwrap()) {
            (6, mcap::records::Record::Chunk { header, data }) => {
                let content = compress(&data);
                let mut body = Vec::new();
                for number in [header.message_start_time, header.message_end_time, header.uncompressed_size] {
                    body.extend(number.to_le_bytes());
                }
                body.extend(header.uncompressed_crc.to_le_bytes());
                body.extend(u32::try_from(name.len()).unwrap().to_le_bytes());
                body.extend(name.as_bytes());
                body.extend((content.len() as u64).to_le_bytes());
                body.extend(content);
                Cow::Owned(body)
            }
            // Its sum is of the bytes before.
            (15, _) => Cow::Owned(vec![0; 4]),
            // Offsets behind the data point into it.
            (opcode, _) if !matches!(opcode, 1 | 3..=5 | 12) => continue,
            _ => Cow::Borrowed(body),
        };
        out.push(opcode);
        out.extend((body.len() as u64).to_le_bytes());
        out.extend_from_slice(&body);
    }
    // A footer without a summary, and the end.
    out.push(2);
    out.extend(20_u64.to_le_bytes());
    out.extend([0; 20]);
    out.extend(magic);
    out
}
