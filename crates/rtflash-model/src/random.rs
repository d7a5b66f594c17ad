//! Random numbers that every machine and every version of every library draws alike.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize, Serializer};

/// 2⁻⁵³.
const ULP: f64 = 1.0 / (1u64 << 53) as f64;

/// The key stream of ChaCha8 as 64-bit words: what it draws depends on its key alone.
#[derive(Debug, Deserialize)]
#[serde(from = "StreamState")]
pub struct Stream(ChaCha8Rng);

/// A key, and how many words of 32 bits have been drawn.
#[derive(Serialize, Deserialize)]
struct StreamState([u8; 32], u128);

impl From<StreamState> for Stream {
    fn from(StreamState(key, words): StreamState) -> Stream {
        let mut stream = Stream::new(key);
        stream.0.set_word_pos(words);
        stream
    }
}

impl Serialize for Stream {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        StreamState(self.0.get_seed(), self.0.get_word_pos()).serialize(to)
    }
}

impl Stream {
    /// The stream of this key.
    pub fn new(key: [u8; 32]) -> Stream {
        Stream(ChaCha8Rng::from_seed(key))
    }

    /// The stream `(domain, index)` of a seed, independent of all others.
    pub fn numbered(seed: u64, domain: &[u8; 8], index: u64) -> Stream {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(domain);
        key[16..24].copy_from_slice(&index.to_le_bytes());
        Stream::new(key)
    }

    /// Uniform in [0, 1): a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        // 53 bits are exact in a double.
        (self.0.next_u64() >> 11) as f64 * ULP
    }

    /// Uniform in 0..`bound`, exactly (D. Lemire, "Fast random integer generation in an interval",
    /// 2019): the high word of word · bound, unless the low one is below 2⁶⁴ mod bound. 0 for 0.
    #[allow(clippy::cast_possible_truncation)]
    pub fn below(&mut self, bound: u64) -> u64 {
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            // The two words of the product, cut off on purpose.
            let (high, low) = ((product >> 64) as u64, product as u64);
            // 2⁶⁴ mod bound is below bound: most words are accepted without the division.
            if low >= bound || low >= bound.wrapping_neg() % bound.max(1) {
                return high;
            }
        }
    }

    /// Uniform in `low`..=`high`.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Uniform in `low`..=`high`.
    pub fn small(&mut self, low: u32, high: u32) -> u32 {
        u32::try_from(self.within(low.into(), high.into())).expect("at most `high`")
    }

    /// A position in a list of `many` entries.
    pub fn index(&mut self, many: usize) -> usize {
        usize::try_from(self.below(many as u64)).expect("a position in a list")
    }

    /// One of these.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_chacha8() {
        // The key stream of ChaCha8 for the zero key and nonce (eSTREAM test vectors): 3e 00 ef 2f
        // 89 5f 40 d6 …
        let mut stream = Stream::new([0; 32]);
        assert_eq!(stream.0.next_u64(), 0xd640_5f89_2fef_003e);
    }

    #[test]
    fn units_and_integers_stay_in_range() {
        let mut stream = Stream::new([7; 32]);
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            assert!((0.0..1.0).contains(&stream.unit()));
            seen[usize::try_from(stream.below(10)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&times| times.abs_diff(10_000) < 400), "{seen:?}");
        assert_eq!((stream.below(0), stream.below(1)), (0, 0));
        // Half of all words are refused for this bound.
        let bound = (1 << 63) + 1;
        assert!((0..1_000).all(|_| stream.below(bound) < bound));
    }
}
