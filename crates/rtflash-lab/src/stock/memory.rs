//! The flash memory of a stock drive: a page map, and an open block.

use rtflash_model::random::Stream;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StockAddresses {
    Random,
    Sequential,
    /// A page of the block with the most data, so that no block is a good victim.
    Levelled,
}

impl StockAddresses {
    pub(super) const ALL: [StockAddresses; 3] =
        [StockAddresses::Random, StockAddresses::Sequential, StockAddresses::Levelled];
}

#[derive(Debug, Clone, Default)]
struct StockBlock {
    valid: Vec<usize>,
    left: usize,
}

pub(super) struct StockMemory {
    blocks: Vec<StockBlock>,
    pages: usize,
    open: usize,
    at: Vec<usize>,
    next: usize,
}

impl StockMemory {
    /// All blocks but one are full, and hold the data evenly.
    pub(super) fn aged(blocks: usize, pages: usize, data: usize) -> StockMemory {
        let mut memory =
            StockMemory { blocks: vec![StockBlock::default(); blocks], pages, open: 0, at: vec![0; data], next: 0 };
        memory.blocks[0].left = pages;
        for page in 0..data {
            let block = 1 + page % (blocks - 1);
            memory.blocks[block].valid.push(page);
            memory.at[page] = block;
        }
        memory
    }

    pub(super) fn pages(&self) -> usize {
        self.pages
    }

    pub(super) fn free(&self) -> usize {
        self.blocks.iter().map(|block| block.left).sum()
    }

    /// Programs a page of data; false where there is no room.
    pub(super) fn program(&mut self, page: usize) -> bool {
        if self.blocks[self.open].left == 0 {
            let Some(empty) = self.blocks.iter().position(|block| block.left == self.pages) else { return false };
            self.open = empty;
        }
        let old = self.at[page];
        self.blocks[old].valid.retain(|&other| other != page);
        self.blocks[self.open].left -= 1;
        self.blocks[self.open].valid.push(page);
        self.at[page] = self.open;
        true
    }

    pub(super) fn victim(&self) -> Option<(usize, Vec<usize>)> {
        let full = (0..self.blocks.len()).filter(|&block| self.blocks[block].left == 0);
        let victim = full.min_by_key(|&block| self.blocks[block].valid.len())?;
        Some((victim, self.blocks[victim].valid.clone()))
    }

    pub(super) fn erase(&mut self, block: usize) {
        self.blocks[block] = StockBlock { valid: Vec::new(), left: self.pages };
    }

    pub(super) fn overwritten(&mut self, addresses: StockAddresses, rng: &mut Stream) -> usize {
        match addresses {
            StockAddresses::Random => rng.index(self.at.len()),
            StockAddresses::Sequential => {
                self.next = (self.next + 1) % self.at.len();
                self.next
            }
            StockAddresses::Levelled => match self.blocks.iter().max_by_key(|block| block.valid.len()) {
                Some(most) if !most.valid.is_empty() => most.valid[rng.index(most.valid.len())],
                _ => 0,
            },
        }
    }
}
