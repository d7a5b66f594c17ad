//! Eight bytes at a time: a search for bytes of some kinds that looks at a word of them at once.

/// The highest bit of each byte: a mark on the byte.
const HIGHEST: u64 = eight(0x80);

/// Eight bytes of one value.
pub(crate) const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Marks the bytes below a limit of at most 128. Above the first of them others may be marked, too.
#[inline]
pub(crate) const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(eight(limit)) & !word & HIGHEST
}

/// Marks all bytes of this value.
#[inline]
pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
    // The sum does not reach into the next byte.
    let others = word ^ eight(byte);
    !(((others & !HIGHEST) + !HIGHEST) | others) & HIGHEST
}

/// Marks all bytes that are no digits.
#[inline]
pub(crate) const fn no_digits(word: u64) -> u64 {
    // What is no digit is ten or more now. The sum does not reach into the next byte.
    let digits = word ^ eight(b'0');
    (((digits & !HIGHEST) + eight(0x80 - 10)) | digits) & HIGHEST
}

/// How many bytes come before the first that is marked.
#[inline]
pub(crate) const fn before_mark(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// The first eight bytes, and their number: fewer at the end, where zeros stand behind them.
#[inline]
pub(crate) fn front(bytes: &[u8]) -> (u64, usize) {
    if let Some(word) = bytes.first_chunk() {
        return (u64::from_le_bytes(*word), word.len());
    }
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    (u64::from_le_bytes(word), bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_are_marked(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), 0x1du8..0x42], 0..12), wanted in 0x1fu8..0x42) {
            let (word, count) = front(&bytes);
            prop_assert_eq!((&word.to_le_bytes()[..count], count), (&bytes[..count], bytes.len().min(8)));
            let is_marked = |marks: u64, at: usize| marks >> (8 * at + 7) & 1 == 1;
            for (at, byte) in word.to_le_bytes().into_iter().enumerate() {
                prop_assert_eq!(is_marked(equal(word, wanted), at), byte == wanted);
                prop_assert_eq!(is_marked(no_digits(word), at), !byte.is_ascii_digit());
            }
            let position = word.to_le_bytes().iter().position(|byte| *byte < wanted);
            prop_assert_eq!(before_mark(below(word, wanted)), position.unwrap_or(8));
        }
    }
}
