//! The checksum of an image.

pub(super) const CHECKSUM: core::ops::Range<usize> = 16..20;

const REMAINDERS: [u32; 256] = {
    let mut remainders = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut remainder, mut bit) = (byte, 0);
        while bit < 8 {
            remainder = if remainder & 1 == 1 { remainder >> 1 ^ 0xEDB8_8320 } else { remainder >> 1 };
            bit += 1;
        }
        remainders[byte as usize] = remainder;
        byte += 1;
    }
    remainders
};

/// CRC-32 of an image, without the bytes that keep it.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let (before, rest) = bytes.split_at(CHECKSUM.start.min(bytes.len()));
    let (_, behind) = rest.split_at(CHECKSUM.len().min(rest.len()));
    let all = before.iter().chain(behind);
    !all.fold(!0, |crc, &byte| crc >> 8 ^ REMAINDERS[usize::from(crc.to_le_bytes()[0] ^ byte)])
}
