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

/// Marks the bytes of this value, as [`below`] does.
#[inline]
pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ eight(byte), 1)
}

/// Marks all bytes that are no digits.
#[inline]
pub(crate) const fn no_digits(word: u64) -> u64 {
    // What is no digit is ten or more now. The sum does not reach into the next byte.
    let digits = word ^ eight(b'0');
    ((digits & !HIGHEST) + eight(0x80 - 10) | digits) & HIGHEST
}

/// How many bytes come before the first that is marked.
#[inline]
pub(crate) const fn before_mark(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// The position of the first byte that is marked. Where there is none, it may be the length, or
/// `None`.
#[inline]
pub(crate) fn first(bytes: &[u8], marks: impl Fn(u64) -> u64) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = bytes[at..].first_chunk() {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return Some(at + before_mark(marks));
        }
        at += word.len();
    }
    let rest = &bytes[at..];
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    let found = before_mark(marks(u64::from_le_bytes(word)));
    (found <= rest.len()).then_some(at + found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_byte_is_found(bytes in proptest::collection::vec(0x1du8..0x24, 0..40), offset in 0u8..3, limit in 0x1fu8..0x22) {
            let bytes: Vec<u8> = bytes.iter().map(|byte| byte + offset * 0x50).collect();
            let wanted = 0x20 + offset * 0x50;
            let position = bytes.iter().position(|byte| *byte == wanted);
            prop_assert_eq!(first(&bytes, |word| equal(word, wanted)), position);
            let position = bytes.iter().position(|byte| *byte < limit);
            // Behind the end there are zeros, as it were.
            prop_assert_eq!(first(&bytes, |word| below(word, limit)), position.or(Some(bytes.len())));
        }

        #[test]
        fn digits_are_those_of_ascii(bytes: [u8; 8]) {
            let marks = no_digits(u64::from_le_bytes(bytes));
            for (at, byte) in bytes.iter().enumerate() {
                prop_assert_eq!(marks >> (8 * at + 7) & 1 == 0, byte.is_ascii_digit());
            }
        }
    }
}
