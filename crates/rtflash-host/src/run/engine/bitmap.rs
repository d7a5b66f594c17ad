//! The bitmap of tags (lib/sbitmap.c, 6.12.117).

use crate::host::{Host, Kernel};

/// Tags of a word.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    /// Tags that are held, or given back and not yet free again.
    taken: u64,
    /// Tags that were given back (`sbitmap_deferred_clear_bit`), free once no other tag is.
    cleared: u64,
}

impl Word {
    /// Takes the first tag at or above `hint`, else below it, of the first `depth`
    /// (`sbitmap_find_bit_in_word`).
    fn take(&mut self, depth: u32, hint: u32) -> Option<u32> {
        let first = |taken: u64| {
            let free = !taken & (u64::MAX >> (64 - depth));
            let above = if hint < u64::BITS { free >> hint << hint } else { 0 };
            let from = if above == 0 { free } else { above };
            (from != 0).then(|| from.trailing_zeros())
        };
        let tag = first(self.taken).or_else(|| {
            self.taken &= !std::mem::take(&mut self.cleared);
            first(self.taken)
        })?;
        self.taken |= 1 << tag;
        Some(tag)
    }
}

/// Tags, in words.
#[derive(Debug, Default)]
pub(super) struct Bitmap {
    /// The words that have been used so far.
    words: Vec<Word>,
    /// Tags in all, and in a word; above zero.
    depth: u32,
    of_word: u32,
    kernel: Kernel,
    /// The tag at which a core's next search begins.
    hints: Vec<u32>,
}

impl Bitmap {
    /// A bitmap of `depth` free tags, `of_word` in a word.
    pub(super) fn new(depth: u32, of_word: u32, host: &Host) -> Bitmap {
        let hints = vec![0; host.cpus.min(MAX_CORES) as usize];
        Bitmap { words: Vec::new(), depth, of_word, kernel: host.kernel, hints }
    }

    fn hint(&mut self, cpu: u32) -> &mut u32 {
        let at = cpu as usize % self.hints.len();
        &mut self.hints[at]
    }

    /// Takes a free tag, one of those of a limit if there is one (`sbitmap_get`,
    /// `sbitmap_get_shallow`).
    pub(super) fn take(&mut self, cpu: u32, limit: Option<u32>) -> Option<u32> {
        let hint = *self.hint(cpu);
        let words = self.depth.div_ceil(self.of_word);
        let usable = limit.map_or(words, |limit| self.words_within(limit));
        let mut at = if hint / self.of_word < usable { hint / self.of_word } else { 0 };
        // Without a limit a search begins at the begin of the word.
        let mut bit = if limit.is_some() && at == hint / self.of_word { hint % self.of_word } else { 0 };
        for _ in 0..usable {
            let depth = self.depth_within(at, limit);
            if self.words.len() <= at as usize {
                self.words.resize(at as usize + 1, Word::default());
            }
            if depth > 0
                && let Some(taken) = self.words[at as usize].take(depth, bit)
            {
                let tag = at * self.of_word + taken;
                if tag == hint {
                    *self.hint(cpu) = if tag + 1 >= self.depth - 1 { 0 } else { tag + 1 };
                }
                return Some(tag);
            }
            bit = 0;
            at = if at + 1 < usable { at + 1 } else { 0 };
        }
        *self.hint(cpu) = 0;
        None
    }

    /// A tag is given back.
    pub(super) fn clear(&mut self, cpu: u32, tag: u32) {
        self.words[(tag / self.of_word) as usize].cleared |= 1 << (tag % self.of_word);
        *self.hint(cpu) = tag;
    }

    /// Tags of a word.
    fn depth_of(&self, at: u32) -> u32 {
        self.of_word.min(self.depth - at * self.of_word)
    }

    /// Tags of a word that requests of a limit can hold (`__map_depth_with_shallow`).
    fn depth_within(&self, at: u32, limit: Option<u32>) -> u32 {
        let own = self.depth_of(at);
        match (limit, self.kernel) {
            (None, _) => own,
            (Some(limit), Kernel::V6_5) => own.min(limit),
            (Some(limit), Kernel::V6_12) if limit >= self.depth => own,
            (Some(limit), Kernel::V6_12) => {
                let (own, limit, depth) = (u64::from(own), u64::from(limit), u64::from(self.depth));
                let one_more = own * limit % depth >= (u64::from(at) + 1) * own;
                u32::try_from(own * limit / depth + u64::from(one_more)).expect("no more than a word has")
            }
        }
    }

    /// Words that have tags for requests of a limit.
    fn words_within(&self, limit: u32) -> u32 {
        let words = self.depth.div_ceil(self.of_word);
        let spread = u64::from(self.of_word) * u64::from(limit);
        match self.kernel {
            // The tags are fewer than the words: the first words have one each.
            Kernel::V6_12 if spread < self.depth.into() => limit.min(words),
            _ => words,
        }
    }
}

/// Cores with a hint of their own; others share these.
const MAX_CORES: u32 = 1 << 10;
