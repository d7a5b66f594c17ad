//! The flash device: its geometry, its timing, its over-provisioning.

mod refuse;
mod stated_times;
mod unstated;

use crate::invalid::{Invalid, Path};
use crate::on_chip::OperationTime;
use crate::ratio::LogicalRatio;
use crate::time::Span;
use refuse::{on_chip, refuse_counts, refuse_times};
pub use stated_times::{Shortest, StatedTimes};

/// Chips that a device may have: 2²⁰.
pub const MAX_CHIPS: u32 = 1 << 20;

/// Not yet checked: [`Device::new`] checks it. Times are the longest that operations take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceSpec {
    /// m: flash chips in the device.
    pub chips: u32,
    /// m_c: chips of a channel. Chip c is on channel ⌊c / m_c⌋; the last can be partly filled.
    pub chips_per_channel: u32,
    /// Blocks on each chip.
    pub blocks_per_chip: u32,
    /// P: pages in a block.
    pub pages_per_block: u32,
    /// Bytes in a page.
    pub page_size: u32,
    /// λ: logical over physical address space.
    pub logical_ratio: LogicalRatio,
    /// t_r (datasheets: tR): reading a page; see `page_read_includes_transfer`.
    pub page_read: Span,
    /// t_w (datasheets: tPROG): programming a page; see `page_program_includes_transfer`.
    pub page_program: Span,
    /// t_e (datasheets: tBERS): time to erase a block.
    pub block_erase: Span,
    /// t_d: time to move one page over the channel's bus.
    pub page_transfer: Span,
    /// The shortest times, where ranges are stated: at most the times above.
    pub shortest: Shortest,
    /// Erases that a block endures (P/E cycles), above zero; `None`: unknown. No analysis asks.
    pub erase_cycles: Option<u32>,
    /// t_c: bus time of an operation's commands, addresses and polls; `None`: not counted. Those of
    /// a program go with the page; all other operations begin with them.
    pub command: Option<Span>,
    /// 1 or 2: with two a chip moves a page while it senses or programs another. `None`: one.
    pub page_registers: Option<u32>,
    /// N_s: blocks of a chip that can fail, kept erased until then; `None`: none.
    pub spare_blocks: Option<u32>,
    /// ζ: of these, at programs while the chip or superblock is busy without a break; `None`: all.
    pub program_failures: Option<u32>,
    /// t_s: from the command that suspends an erase until the chip is free; `None`: no suspension.
    pub erase_suspend: Option<Span>,
    /// t_u: what each suspension adds to an erase, at most; `None`: nothing.
    pub erase_resume: Option<Span>,
    /// Δ: a block erased Δ times less often than another of its chip is moved; `None`: never.
    pub wear_gap: Option<u32>,
    /// N_g: α leaves one of N_g GC jobs for wear; `None`: only those without other work.
    pub wear_passes: Option<u32>,
    /// Whether the page's transfer is in t_r. `None`: each analysis takes it as its source does.
    pub page_read_includes_transfer: Option<bool>,
    /// Whether the page's transfer is in t_w. `None`: as above.
    pub page_program_includes_transfer: Option<bool>,
    /// Whether the times above are maxima. `None`: they are. No analysis asks.
    pub times: Option<StatedTimes>,
}

impl DeviceSpec {
    /// Blocks of each chip that are kept erased until others fail.
    pub fn blocks_kept_back(&self) -> u32 {
        self.spare_blocks.unwrap_or(0)
    }
}

/// A checked device: counts and times above zero, at most [`MAX_CHIPS`] chips, α ≥ 1, and a GC pass
/// and m_c page transfers with their commands below 2⁶³ ns each. A stated time that contains the
/// transfer leaves something without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    spec: DeviceSpec,
    read: OperationTime,
    program: OperationTime,
    valid_pages_bound: u32,
    gc_pass: Span,
    /// Whether it was described as a sealed profile with other fields.
    pub(crate) from_sealed: bool,
}

impl Shortest {
    fn all(&self) -> [Option<Span>; 4] {
        [self.page_read, self.page_program, self.block_erase, self.page_transfer]
    }
}

impl Device {
    /// Checks a description: each fault has the field's name as its path.
    pub fn new(spec: DeviceSpec) -> Result<Device, Vec<Invalid>> {
        let mut wrong = Vec::new();
        let mut refuse = |field: &'static str, problem: String, help: &str| {
            wrong.push(Invalid::new(Path::root().key(field), problem, help))
        };
        refuse_counts(&spec, &mut refuse);
        refuse_times(&spec, &mut refuse);
        let bound = spec.logical_ratio.ceil_of(u64::from(spec.pages_per_block));
        // λ < 1, so the product rounds up to at most P.
        let bound = u32::try_from(bound).unwrap_or(spec.pages_per_block);
        if bound >= spec.pages_per_block && spec.pages_per_block > 0 {
            refuse(
                "logical_ratio",
                format!(
                    "a GC pass would free no page: ceil({} * {}) = {bound} valid pages fill a block",
                    spec.logical_ratio, spec.pages_per_block
                ),
                "a smaller logical_ratio or more pages_per_block, so that at least one page of a block is free",
            );
        }
        let [read, program] = on_chip(&spec, &mut refuse);
        let gc_pass = gc_cost(bound, read.longest, program.longest, spec.block_erase);
        if gc_pass.is_none() {
            refuse(
                "pages_per_block",
                "one GC pass would take 2^63 ns or more".into(),
                "fewer pages per block or shorter times",
            );
        }
        let hold = spec.page_transfer.checked_add(spec.command.unwrap_or(Span::ZERO));
        if hold.and_then(|hold| hold.checked_mul(u64::from(spec.chips_per_channel))).is_none() {
            refuse(
                "page_transfer",
                "one transfer for every chip of a channel would take 2^63 ns or more".into(),
                "a shorter page_transfer or fewer chips_per_channel",
            );
        }
        match (wrong.is_empty(), gc_pass) {
            (true, Some(gc_pass)) => {
                Ok(Device { spec, read, program, valid_pages_bound: bound, gc_pass, from_sealed: false })
            }
            _ => Err(wrong),
        }
    }

    /// The description this device was made from, to change and check again.
    pub fn spec(&self) -> DeviceSpec {
        self.spec
    }

    /// m: flash chips.
    pub fn chips(&self) -> u32 {
        self.spec.chips
    }

    /// m_c: chips on a channel.
    pub fn chips_per_channel(&self) -> u32 {
        self.spec.chips_per_channel
    }

    /// Blocks on each chip.
    pub fn blocks_per_chip(&self) -> u32 {
        self.spec.blocks_per_chip
    }

    /// P: pages in a block.
    pub fn pages_per_block(&self) -> u32 {
        self.spec.pages_per_block
    }

    /// Bytes in a page.
    pub fn page_size(&self) -> u32 {
        self.spec.page_size
    }

    /// λ.
    pub fn logical_ratio(&self) -> LogicalRatio {
        self.spec.logical_ratio
    }

    /// t_r: the longest time on the chip, less t_d where the stated time contains it.
    pub fn page_read(&self) -> Span {
        self.read.longest
    }

    /// t_w: the longest time on the chip, less t_d where the stated time contains it.
    pub fn page_program(&self) -> Span {
        self.program.longest
    }

    /// t_e: the longest time that it takes.
    pub fn block_erase(&self) -> Span {
        self.spec.block_erase
    }

    /// t_d: the longest time that it takes.
    pub fn page_transfer(&self) -> Span {
        self.spec.page_transfer
    }

    /// t_c: what the commands of an operation hold the bus for; zero where they are not counted.
    pub fn command(&self) -> Span {
        self.spec.command.unwrap_or(Span::ZERO)
    }

    /// All operations ask for the bus for them but programs, whose command goes with the page.
    pub fn has_commands(&self) -> bool {
        self.command() > Span::ZERO
    }

    /// t_b = t_c + t_d: the longest that one request holds a bus.
    pub fn bus_hold(&self) -> Span {
        let hold = self.command().checked_add(self.spec.page_transfer);
        hold.expect("that of each chip of a channel is checked with the device")
    }

    /// Page registers of a chip: 1 or 2.
    pub fn page_registers(&self) -> u32 {
        self.spec.page_registers.unwrap_or(1)
    }

    /// A second page register lets a chip move a page while it senses or programs another
    /// (docs/analysis.md, Section 13). It is unused if programs can fail, as a failure shows when
    /// the next page is in it, and with wear levelling, as no proof covers the two together.
    pub fn has_cache_register(&self) -> bool {
        self.page_registers() > 1 && self.spare_blocks() == 0 && self.wear_gap().is_none()
    }

    /// N_s: blocks of each chip kept erased until others fail (docs/analysis.md, Section 17).
    pub fn spare_blocks(&self) -> u32 {
        self.spec.blocks_kept_back()
    }

    /// ζ: failures at programs while the chip, or its superblock, is busy without a break.
    pub fn program_failures(&self) -> u32 {
        self.spec.program_failures.unwrap_or(self.spare_blocks())
    }

    /// Δ: erases by which blocks of a chip can differ before the least erased one's valid pages are
    /// moved (docs/analysis.md, Section 19); `None`: any number.
    pub fn wear_gap(&self) -> Option<u32> {
        self.spec.wear_gap
    }

    /// N_g: α leaves one of N_g GC jobs for wear levelling; `None` if it leaves none.
    pub fn wear_passes(&self) -> Option<u32> {
        self.spec.wear_passes
    }

    /// t_s; `None` where erases are not suspended (docs/analysis.md, Section 18), as with commands:
    /// those of a suspension are not counted.
    pub fn erase_suspend(&self) -> Option<Span> {
        self.spec.erase_suspend.filter(|_| !self.has_commands())
    }

    /// t_u: by how much an erase takes longer for each time that it was suspended, at most.
    pub fn erase_resume(&self) -> Span {
        self.spec.erase_resume.unwrap_or(Span::ZERO)
    }

    /// The shortest time that sensing a page takes; [`Device::page_read`] where no range is stated.
    pub fn page_read_min(&self) -> Span {
        self.read.shortest.unwrap_or(self.read.longest)
    }

    /// [`Device::page_program`] where no range is stated.
    pub fn page_program_min(&self) -> Span {
        self.program.shortest.unwrap_or(self.program.longest)
    }

    /// [`Device::block_erase`] where no range is stated.
    pub fn block_erase_min(&self) -> Span {
        self.spec.shortest.block_erase.unwrap_or(self.spec.block_erase)
    }

    /// [`Device::page_transfer`] where no range is stated.
    pub fn page_transfer_min(&self) -> Span {
        self.spec.shortest.page_transfer.unwrap_or(self.spec.page_transfer)
    }

    /// Whether no time is stated as a range.
    pub fn has_single_times(&self) -> bool {
        self.spec.shortest == Shortest::default()
    }

    /// Whether an analysis can rely on the order in which reads ask for the bus (docs/analysis.md,
    /// Section 6.1, Q3): transfers take a single time, and sensing varies by less than one. With
    /// commands (Section 6.3, Q5) it varies by less than one, which takes at most a transfer.
    pub fn has_steady_reads(&self) -> bool {
        let narrow = |than: Span| self.page_read_min().saturating_add(than) > self.page_read();
        if self.has_commands() {
            return narrow(self.command()) && self.command() <= self.page_transfer();
        }
        self.spec.shortest.page_transfer.is_none() && narrow(self.page_transfer())
    }

    /// Erases that a block endures; `None` where nothing is known of it.
    pub fn erase_cycles(&self) -> Option<u32> {
        self.spec.erase_cycles
    }

    /// Whether the stated t_r contains a page's transfer; `None` where the device does not say.
    pub fn page_read_includes_transfer(&self) -> Option<bool> {
        self.spec.page_read_includes_transfer
    }

    /// Whether the stated t_w contains a page's transfer; `None` where the device does not say.
    pub fn page_program_includes_transfer(&self) -> Option<bool> {
        self.spec.page_program_includes_transfer
    }

    /// ⌈λP⌉: valid pages that a GC pass has to copy on one chip, at most.
    pub fn valid_pages_bound(&self) -> u32 {
        self.valid_pages_bound
    }

    /// α = P − ⌈λP⌉: pages that one GC pass frees on one chip, at least. Never zero.
    pub fn reclaimed_per_chip(&self) -> u32 {
        self.spec.pages_per_block - self.valid_pages_bound
    }

    /// m⌊λNP⌋ with N blocks on a chip. Can be zero.
    pub fn logical_pages(&self) -> u128 {
        self.logical_pages_of(self.spec.chips)
    }

    /// C^g = ⌈λP⌉·(t_r + t_w) + t_e, Eq. (IV.3), for every cluster size, as a pass runs on all
    /// chips at once. Copies stay on their chip: a transfer that t_r or t_w contains is taken out.
    pub fn gc_pass(&self) -> Span {
        self.gc_pass
    }

    /// The channel that a chip is on: ⌊chip / m_c⌋.
    pub fn channel_of(&self, chip: u32) -> u32 {
        chip / self.spec.chips_per_channel
    }

    /// Channels, the last of which may be partly filled.
    pub fn channels(&self) -> u32 {
        self.spec.chips.div_ceil(self.spec.chips_per_channel)
    }

    /// m_c, on the last channel perhaps fewer, and none beyond it.
    pub fn chips_on(&self, channel: u32) -> u32 {
        let before = channel.saturating_mul(self.spec.chips_per_channel);
        self.spec.chips.saturating_sub(before).min(self.spec.chips_per_channel)
    }

    /// Above what any analysis charges for one page, read and written: a transfer for every chip of
    /// the channel, in nanoseconds.
    pub(crate) fn page_cost_bound(&self) -> (u128, u128) {
        let transfers = u128::from(self.bus_hold().as_ns()) * u128::from(self.spec.chips_per_channel);
        // A read with commands asks for the bus twice.
        let asks = 1 + u128::from(self.has_commands());
        let read = u128::from(self.read.longest.as_ns()) + asks * transfers;
        (read, u128::from(self.program.longest.as_ns()) + transfers)
    }
}

/// Eq. (IV.3), or `None` at 2⁶³ ns and above.
fn gc_cost(valid_pages: u32, read: Span, program: Span, erase: Span) -> Option<Span> {
    read.checked_add(program)?.checked_mul(u64::from(valid_pages))?.checked_add(erase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thesis() -> DeviceSpec {
        Device::profile("dgist-2021").unwrap().spec()
    }

    fn paths(spec: DeviceSpec) -> Vec<String> {
        Device::new(spec).unwrap_err().iter().map(|wrong| wrong.path.to_string()).collect()
    }

    #[test]
    fn the_thesis_device_has_the_thesis_numbers() {
        let device = Device::profile("dgist-2021").unwrap();
        assert_eq!((device.valid_pages_bound(), device.reclaimed_per_chip()), (128, 128));
        assert_eq!(device.gc_pass().as_ns(), 75_400_000);
        assert_eq!((device.channels(), device.channel_of(7)), (4, 1));
        assert_eq!(device.logical_pages(), 16 * 1024 * 128);
        assert!(Device::profile("dgist").is_none());
    }

    #[test]
    fn the_last_channel_may_be_partly_filled() {
        let chips = |chips, ways| {
            let device = Device::new(DeviceSpec { chips, chips_per_channel: ways, ..thesis() }).unwrap();
            (0..=device.channels()).map(|channel| device.chips_on(channel)).collect::<Vec<_>>()
        };
        assert_eq!([chips(9, 8), chips(16, 8), chips(3, 4)], [vec![8, 1, 0], vec![8, 8, 0], vec![3, 0]]);
    }

    #[test]
    fn every_wrong_field_is_named() {
        let good = thesis();
        assert_eq!(paths(DeviceSpec { chips: 0, page_read: Span::ZERO, ..good }), ["chips", "page_read"]);
        assert_eq!(paths(DeviceSpec { chips: MAX_CHIPS + 1, ..good }), ["chips"]);
        assert_eq!(paths(DeviceSpec { pages_per_block: 1, ..good }), ["logical_ratio"]);
        let shortest = Shortest { page_read: Some(Span::from_us(51)), block_erase: Some(Span::ZERO), ..good.shortest };
        assert_eq!(paths(DeviceSpec { shortest, ..good }), ["page_read", "block_erase"]);
        assert_eq!(paths(DeviceSpec { erase_cycles: Some(0), ..good }), ["erase_cycles"]);
        assert_eq!(paths(DeviceSpec { page_program: Span::from_ns(1 << 62).unwrap(), ..good }), ["pages_per_block"]);
    }
}
