//! `thesis-evaluated`: the equations that the published figures were computed with.

use rtflash_model::generate::PageCosts;
use rtflash_model::{Device, Span};

use crate::thesis::times_transfer;
use crate::{Analysis, Assumption, BLOCKING, CAPACITY, DEADLINES, GC_COST, GC_PERIOD, LinearTest, SERIAL, Test};

/// Theorem 1 with the costs and delay of the authors' public simulation (Techyee/sched_test, 2020),
/// behind the published figures. Not monotone: D(s) is zero only where s fills whole channels.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThesisEvaluated;

impl Analysis for ThesisEvaluated {
    fn name(&self) -> &'static str {
        "thesis-evaluated"
    }

    fn summary(&self) -> &'static str {
        "Theorem 1 of the thesis, with the page costs and transfer delay its figures were computed with"
    }

    fn assumes(&self) -> &'static [Assumption] {
        const EVALUATED: Assumption = Assumption {
            name: "bus-wait",
            statement: "a page takes t_d on the bus beside t_r or t_w, and waits for it at most t_d ((m_c - s mod \
                        m_c) mod m_c)",
        };
        &[SERIAL, EVALUATED, GC_COST, GC_PERIOD, BLOCKING, DEADLINES, CAPACITY]
    }

    fn page_costs(&self, device: &Device) -> PageCosts {
        PageCosts::transfer_on_top(device)
    }

    fn test(&self) -> Test<'_> {
        Test::Linear(self)
    }
}

impl LinearTest for ThesisEvaluated {
    /// D(s) = t_d·((m_c − s mod m_c) mod m_c).
    fn transfer_delay(&self, device: &Device, chips: u32) -> Span {
        let per_channel = device.chips_per_channel();
        times_transfer(device, (per_channel - chips % per_channel) % per_channel)
    }
}
