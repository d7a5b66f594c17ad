//! Whether the times of a device are maxima, and the shortest ones.

use super::Device;
use crate::time::Span;

/// The shortest times of a device's operations, where it states ranges; `None` where it states a
/// single time, which is the longest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shortest {
    /// Of sensing a page.
    pub page_read: Option<Span>,
    /// Of programming a page.
    pub page_program: Option<Span>,
    /// Of erasing a block.
    pub block_erase: Option<Span>,
    /// Of moving a page over the bus.
    pub page_transfer: Option<Span>,
}

/// Whether a device states the longest times of its operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StatedTimes {
    /// No operation takes longer than its stated time.
    #[default]
    Maximum,
    /// Operations usually take the stated times, and can take longer: nothing is guaranteed.
    Typical,
}

crate::names! {
    StatedTimes {
        Maximum = "maximum",
        Typical = "typical",
    }
}

impl Device {
    /// Whether the device states typical times, from which no guarantee follows.
    pub fn has_typical_times(&self) -> bool {
        self.spec.times == Some(StatedTimes::Typical)
    }
}
