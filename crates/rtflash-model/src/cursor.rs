//! A position in a text that has the usual form: what is expected is stepped over, anything else
//! gives `None`, and the text is left to a reader that says what is wrong with it.

use crate::words::{before_mark, below, eight, equal, front, no_digits};

/// What is left of a text that is being read.
///
/// Every method steps over what it reads. Where it reads nothing it gives `None`, and the cursor
/// may stand anywhere.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'t> {
    rest: &'t [u8],
}

impl<'t> Cursor<'t> {
    /// At the beginning of a text.
    pub fn new(text: &'t [u8]) -> Cursor<'t> {
        Cursor { rest: text }
    }

    /// What is left of the text.
    #[inline]
    pub fn rest(&self) -> &'t [u8] {
        self.rest
    }

    /// This, and nothing else. Where it is not there, the cursor stays.
    #[inline]
    pub fn text<const N: usize>(&mut self, expected: &[u8; N]) -> Option<()> {
        let (front, rest) = self.rest.split_first_chunk()?;
        if front != expected {
            return None;
        }
        self.rest = rest;
        Some(())
    }

    /// A whole number as JSON has it, of at most 19 digits.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let leading_zero = self.rest.first() == Some(&b'0');
        let (value, count) = self.digits();
        let plain = count == 1 || (2..=19).contains(&count) && !leading_zero;
        plain.then_some(value)
    }

    /// As many digits as there are, leading zeros among them: their value and how many they are.
    /// The value is meaningless behind the 19th.
    #[inline]
    pub fn digits(&mut self) -> (u64, usize) {
        let (mut value, mut count) = (0u64, 0);
        while let Some(chunk) = self.rest.first_chunk::<8>() {
            let (digits, found) = digits_of(u64::from_le_bytes(*chunk));
            value = value.wrapping_mul(POWERS_OF_TEN[found]).wrapping_add(digits);
            count += found;
            self.rest = &self.rest[found..];
            if found < chunk.len() {
                return (value, count);
            }
        }
        while let Some((digit @ b'0'..=b'9', rest)) = self.rest.split_first() {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            count += 1;
            self.rest = rest;
        }
        (value, count)
    }

    /// The inside of a string in which every byte stands for itself. The text should be UTF-8.
    #[inline]
    pub fn string(&mut self) -> Option<&'t [u8]> {
        self.text(b"\"")?;
        let mut length = 0;
        loop {
            let (word, _) = front(&self.rest[length..]);
            // The zeros at the end of the text are among those below a blank.
            let plain = before_mark(below(word, b' ') | equal(word, b'"') | equal(word, b'\\'));
            length += plain;
            if plain < 8 {
                break;
            }
        }
        let (inside, rest) = self.rest.split_at(length);
        self.rest = rest.strip_prefix(b"\"")?;
        Some(inside)
    }

    /// White space, as much as there is.
    #[inline]
    pub fn space(&mut self) {
        while let Some((b' ' | b'\t' | b'\r' | b'\n', rest)) = self.rest.split_first() {
            self.rest = rest;
        }
    }
}

/// Powers of ten, from 10⁰ to 10⁹.
pub(crate) const POWERS_OF_TEN: [u64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// The value of the digits at the front of eight bytes of text, and how many they are.
#[inline]
fn digits_of(word: u64) -> (u64, usize) {
    let count = before_mark(no_digits(word));
    if count == 0 {
        return (0, 0);
    }
    // As if zeros stood before them. The first digit is the lowest byte.
    let digits = (word ^ eight(b'0')) << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let value = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    (value, count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_expected_is_stepped_over() {
        let mut cursor = Cursor::new(br#"{"a":12345678901,"b": "x\n"}"#);
        assert_eq!(cursor.text(br#"{"a":"#), Some(()));
        assert_eq!(cursor.number(), Some(12_345_678_901));
        assert_eq!(cursor.text(br#","b":"#), Some(()));
        cursor.space();
        assert_eq!(cursor.string(), None);
        for (text, number) in [
            ("0", Some(0)),
            ("0,", Some(0)),
            ("00", None),
            ("01234567890", None),
            ("", None),
            ("x", None),
            ("9999999999999999999 ", Some(9_999_999_999_999_999_999)),
            ("10000000000000000000", None),
            ("12345678", Some(12_345_678)),
            ("1234567:", Some(1_234_567)),
        ] {
            assert_eq!(Cursor::new(text.as_bytes()).number(), number, "{text}");
        }
    }

    proptest! {
        #[test]
        fn numbers_are_what_their_digits_say(number in any::<u64>(), length in 1..20u32, behind in "[^0-9]{0,9}") {
            let number = number % 10u64.pow(length);
            let text = format!("{number}{behind}");
            let mut cursor = Cursor::new(text.as_bytes());
            prop_assert_eq!((cursor.number(), cursor.rest()), (Some(number), behind.as_bytes()));
        }

        #[test]
        fn strings_are_those_that_need_no_decoding(inside in "(\\PC|[\0-\x20\"\\\\]){0,20}", behind in ".{0,9}") {
            let text = format!("\"{inside}\"{behind}");
            let mut cursor = Cursor::new(text.as_bytes());
            let read = cursor.string();
            let is_plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
            let end = inside.as_bytes().iter().position(|byte| !is_plain(byte)).unwrap_or(inside.len());
            let plain = text.as_bytes()[1 + end] == b'"';
            prop_assert_eq!(read, plain.then_some(&inside.as_bytes()[..end]));
            if plain {
                prop_assert_eq!(cursor.rest(), &text.as_bytes()[end + 2..]);
            }
        }
    }
}
