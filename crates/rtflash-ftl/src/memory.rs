//! Whose memory the state lives in.

use core::fmt::Debug;
use core::marker::PhantomData;
use core::ops::Range;
#[cfg(feature = "serde")]
use serde::de::DeserializeOwned as Owned;

/// Lists of fixed lengths: firmware lends them ([`Lent`]), a program with an allocator owns them.
pub trait Memory {
    /// A list of numbers.
    type Words: AsRef<[u32]> + AsMut<[u32]> + Debug;
    /// A list of bits, 64 in a word, the first one the lowest.
    type Bits: AsRef<[u64]> + AsMut<[u64]> + Debug;
}

/// Memory of a program that keeps the state of a run.
#[cfg(feature = "serde")]
pub trait KeptMemory: Memory<Words: serde::Serialize + Owned, Bits: serde::Serialize + Owned> {}
#[cfg(feature = "serde")]
impl<M: Memory<Words: serde::Serialize + Owned, Bits: serde::Serialize + Owned>> KeptMemory for M {}

/// Memory that the caller lends.
#[derive(Debug)]
pub struct Lent<'m>(PhantomData<&'m mut [u32]>);

impl<'m> Memory for Lent<'m> {
    type Words = &'m mut [u32];
    type Bits = &'m mut [u64];
}

/// A number that stands for none: no logical page, no place.
pub const NONE: u32 = u32::MAX;

/// A position in memory: a machine with addresses of fewer than 32 bits holds no map.
#[inline]
pub(crate) const fn index(number: u32) -> usize {
    number as usize
}

/// A length or a position: certificates have none above 2³² − 1.
#[inline]
pub(crate) fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Whether a bit is set; none is behind the end.
#[inline]
pub(crate) fn has(bits: &[u64], bit: u32) -> bool {
    bits.get(index(bit / 64)).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

#[inline]
pub(crate) fn marks(bits: &mut [u64], bit: u32) {
    bits[index(bit / 64)] |= 1 << (bit % 64);
}

pub(crate) fn marks_all(bits: &mut [u64], mut range: Range<u32>) {
    while range.start < range.end {
        let (word, first) = (range.start / 64, range.start % 64);
        let count = (64 - first).min(range.end - range.start);
        bits[index(word)] |= u64::MAX >> (64 - count) << first;
        range.start += count;
    }
}

#[inline]
pub(crate) fn clears(bits: &mut [u64], bit: u32) {
    bits[index(bit / 64)] &= !(1 << (bit % 64));
}

#[inline]
pub(crate) fn takes(bits: &mut [u64], bit: u32) -> bool {
    let was = has(bits, bit);
    if was {
        clears(bits, bit);
    }
    was
}
