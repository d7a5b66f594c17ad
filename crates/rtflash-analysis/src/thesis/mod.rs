//! `thesis`: the equations as they are printed.

pub(crate) mod evaluated;

use rtflash_model::{Device, Span};

use super::{Analysis, Assumption, BLOCKING, CAPACITY, DEADLINES, GC_COST, GC_PERIOD, LinearTest, SERIAL, Test};

/// Theorem 1 with the transfer delay as printed in Eqs. (IV.5) and (IV.6).
#[derive(Debug, Clone, Copy, Default)]
pub struct Thesis;

impl Analysis for Thesis {
    fn name(&self) -> &'static str {
        "thesis"
    }

    fn summary(&self) -> &'static str {
        "Theorem 1 of the thesis, with the transfer delay as printed"
    }

    fn assumes(&self) -> &'static [Assumption] {
        const PRINTED: Assumption = Assumption {
            name: "bus-wait",
            statement: "a page waits for its channel's bus at most t_d (m_c - (ceil(s / m_c) + 1)), and its own \
                        transfer is part of t_r or t_w (Eqs. IV.5, IV.6)",
        };
        &[SERIAL, PRINTED, GC_COST, GC_PERIOD, BLOCKING, DEADLINES, CAPACITY]
    }

    fn test(&self) -> Test<'_> {
        Test::Linear(self)
    }
}

impl LinearTest for Thesis {
    /// D(s) = t_d·(m_c − (⌈s/m_c⌉ + 1)), never below 0: the printed form goes negative for large s.
    fn transfer_delay(&self, device: &Device, chips: u32) -> Span {
        let per_channel = device.chips_per_channel();
        let waits = per_channel.saturating_sub(chips.div_ceil(per_channel).saturating_add(1));
        times_transfer(device, waits)
    }
}

/// `waits` · t_d.
pub(crate) fn times_transfer(device: &Device, waits: u32) -> Span {
    // No analysis waits more often than m_c times.
    let waiting = device.page_transfer().checked_mul(u64::from(waits.min(device.chips_per_channel())));
    waiting.expect("a device has t_d · m_c below 2⁶³ ns")
}
