//! The bus as MQSim can have it: whole nanoseconds for a byte.

/// Nanoseconds of the commands around a page: of a program, and of a read, which are not the same.
/// MQSim has them compiled in (`ONFI_Channel_NVDDR2`).
pub const COMMANDS_NS: [u64; 2] = [361, 320];

/// Sectors of 512 bytes in a page, at most: MQSim marks them in 64 bits.
const MAX_SECTORS: u64 = 64;

/// How a page crosses the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Sectors of 512 bytes in a page.
    pub sectors: u64,
    /// ns for a byte.
    pub ns_a_byte: u64,
    /// Millions of transfers a second, of a byte each, that MQSim cuts to this.
    pub rate: u64,
}

impl Clock {
    /// ns for a page with the commands of a program.
    pub fn transfer_ns(&self) -> u64 {
        self.sectors * 512 * self.ns_a_byte + COMMANDS_NS[0]
    }
}

/// The clock by which a page takes the nearest to `transfer` ns: of several the one with the page
/// size nearest to `page_size`, then the faster one. MQSim computes ⌊1000 / rate⌋ ns for a byte, of
/// a whole rate.
pub fn clock(transfer: u64, page_size: u64) -> Clock {
    let clocks = (1..=1_000).filter_map(|ns_a_byte| {
        // The greatest rate that is cut to this.
        let rate = 1_000 / ns_a_byte;
        (1_000 / rate == ns_a_byte).then_some((ns_a_byte, rate))
    });
    let all =
        clocks.flat_map(|(ns_a_byte, rate)| (1..=MAX_SECTORS).map(move |sectors| Clock { sectors, ns_a_byte, rate }));
    let far = |clock: &Clock| {
        (clock.transfer_ns().abs_diff(transfer), (clock.sectors * 512).abs_diff(page_size), clock.ns_a_byte)
    };
    all.min_by_key(far).expect("there are clocks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_takes_nearly_as_long() {
        for transfer in (5_000..4_000_000).step_by(7_919) {
            let clock = clock(transfer, 8_192);
            assert_eq!(1_000 / clock.rate, clock.ns_a_byte, "{clock:?}");
            let error = clock.transfer_ns().abs_diff(transfer);
            assert!(error * 100 <= transfer * 3, "{transfer}: {clock:?}");
        }
        // The thesis's device: 40 µs.
        assert!(clock(40_000, 8_192).transfer_ns().abs_diff(40_000) < 300);
        // A time faster than a sector at 1 ns, or slower than all.
        assert_eq!(clock(1, 4_096), Clock { sectors: 1, ns_a_byte: 1, rate: 1_000 });
        assert_eq!(clock(u64::MAX, 4_096), Clock { sectors: 64, ns_a_byte: 1_000, rate: 1 });
    }
}
