//! A cluster of an image.

use super::{
    BACKFILLS, CACHED, ImageCluster, ImageCollection, ImageOrganisation, ImageRing, ImageServer, NO_DEADLINE,
    RING_BYTES, SUSPENDS,
};

impl ImageCollection {
    /// Nothing can be reclaimed.
    pub(crate) const NOTHING: ImageCollection = ImageCollection {
        deadline_ns: None,
        reclaimed_pages: u64::MAX,
        reserve_pages: u64::MAX,
        victim_pages: 0,
        wear_pages: 0,
    };
}

impl ImageCluster<'_> {
    /// How its chips are used. An unknown organisation reads as a stripe; no sound image has one.
    pub fn organisation(&self) -> ImageOrganisation {
        match self.bytes.u32(self.at) % SUSPENDS {
            1 => ImageOrganisation::Zoned,
            2 => ImageOrganisation::Superblock,
            _ => ImageOrganisation::Stripe,
        }
    }

    /// Whether its tasks own zones.
    pub fn is_zoned(&self) -> bool {
        self.organisation() == ImageOrganisation::Zoned
    }

    /// Whether all of its chips are one processor.
    pub fn is_superblock(&self) -> bool {
        self.organisation() == ImageOrganisation::Superblock
    }

    /// Whether the erases of its passes are suspended for jobs that are more urgent.
    pub fn suspends_erases(&self) -> bool {
        self.bytes.u32(self.at) & SUSPENDS != 0
    }

    /// Whether chips that a step leaves idle do something for other requests meanwhile, by rule D3.
    pub fn backfills(&self) -> bool {
        self.bytes.u32(self.at) & BACKFILLS != 0
    }

    /// Whether its chips use a second page register: a cached stripe, or a cached superblock.
    pub fn is_cached(&self) -> bool {
        self.bytes.u32(self.at) & CACHED != 0
    }

    pub(super) fn first_chip(&self) -> u32 {
        self.bytes.u32(self.at + 4)
    }

    /// s: how many chips it has.
    pub fn chips(&self) -> u32 {
        self.bytes.u32(self.at + 8)
    }

    /// The number in the device of its chip with this position; ascending.
    pub fn chip(&self, position: u32) -> Option<u32> {
        let at = self.bytes.entry(|of| of.chips, self.first_chip().checked_add(position)?, 4);
        (position < self.chips()).then_some(self.bytes.u32(at))
    }

    /// Logical pages of each of its chips.
    pub fn logical_per_chip(&self) -> u32 {
        self.bytes.u32(self.at + 12)
    }

    /// Processors: each chip is one, or all together.
    pub fn processors(&self) -> u32 {
        if self.is_superblock() { 1 } else { self.chips() }
    }

    pub(super) fn first_ring(&self) -> u32 {
        self.bytes.u32(self.at + 16)
    }

    /// How many rings of zones it has.
    pub fn rings(&self) -> u32 {
        self.bytes.u32(self.at + 20)
    }

    /// A ring, by position.
    pub fn ring(&self, position: u32) -> Option<ImageRing> {
        let at = self.bytes.entry(|of| of.rings, self.first_ring().checked_add(position)?, RING_BYTES);
        let [first_block, blocks, first_page, page_count, writes] = self.bytes.words(at);
        let ring = ImageRing { first_block, blocks, first_page, page_count, writes: writes == 1 };
        (position < self.rings() && writes <= 1).then_some(ring)
    }

    pub(super) fn collection_numbers(&self) -> [u64; 5] {
        self.bytes.longs(self.at + 24)
    }

    /// By what it collects garbage; `None` where it does not.
    pub fn collection(&self) -> Option<ImageCollection> {
        let [deadline, reclaimed_pages, reserve_pages, victim_pages, wear_pages] = self.collection_numbers();
        (reclaimed_pages > 0).then_some(ImageCollection {
            deadline_ns: (deadline != NO_DEADLINE).then_some(deadline),
            reclaimed_pages,
            reserve_pages,
            victim_pages,
            wear_pages,
        })
    }

    pub(super) fn server_numbers(&self) -> [u64; 5] {
        self.bytes.longs(self.at + 64)
    }

    /// Its processors' server; `None` where there is none.
    pub fn server(&self) -> Option<ImageServer> {
        let [thousandths, read_ns, program_ns, pass_ns, turn_ns] = self.server_numbers();
        let thousandths = u32::try_from(thousandths).ok().filter(|&share| share > 0)?;
        Some(ImageServer { thousandths, read_ns, program_ns, pass_ns, turn_ns })
    }
}
