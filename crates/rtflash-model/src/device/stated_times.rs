//! Whether the times of a device are maxima, and the shortest ones.

use schemars::JsonSchema;

use super::Device;
use crate::time::Span;

/// The shortest times of a device's operations, where it states ranges; `None` where it states a
/// single time, which is the longest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shortest {
    /// The least time of sensing a page.
    pub page_read: Option<Span>,
    /// The least time of programming a page.
    pub page_program: Option<Span>,
    /// The least time of erasing a block.
    pub block_erase: Option<Span>,
    /// The least time of moving a page over the bus.
    pub page_transfer: Option<Span>,
}

/// The meaning of the times of a device.
// The comments are the schema's descriptions. From typical times no guarantee follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum StatedTimes {
    /// No operation takes longer than its stated time.
    #[default]
    Maximum,
    /// Operations usually take the stated times, and can take longer.
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
