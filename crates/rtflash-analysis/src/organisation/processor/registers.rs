//! The time that a processor whose chips use a second page register takes beside its steps.

use super::Processor;
use crate::organisation::registers::{ChipDuties, RegisterTurns, Registers, TurnCounts};
use crate::time::Cost;

impl Processor {
    pub(crate) fn registers(&self) -> Option<Registers> {
        self.registers
    }

    /// [`turnaround`](Processor::turnaround) beside `chips` chips that are not charged.
    pub(crate) fn turnaround_beside(&self, server: bool, chips: u64) -> Cost {
        self.registers.map_or(Cost::ZERO, |registers| registers.turnaround_beside(self.duties(server), chips))
    }

    pub(crate) fn duties(&self, server: bool) -> ChipDuties {
        let reads = server || self.tasks.iter().any(|task| !task.writes);
        ChipDuties { reads, writes: server || !self.write_streams.is_empty() }
    }

    /// I: how often its chips' arrays may wait for a transfer, with a server or without.
    pub(crate) fn turns(&self, server: bool, of: TurnCounts) -> RegisterTurns {
        if self.registers.is_some() {
            Registers::turns(self.duties(server), server, of)
        } else {
            RegisterTurns::default()
        }
    }

    /// The longest wait of a chip for each job beside its steps, with a server or without.
    pub fn turnaround(&self, server: bool) -> Cost {
        self.registers.map_or(Cost::ZERO, |registers| registers.turnaround(self.duties(server)))
    }

    /// Blocks in any interval; zero where that depends on what is due later.
    pub(crate) fn always_blocking(&self, server: bool) -> Cost {
        self.registers.map_or(Cost::ZERO, |registers| registers.blocking(self.duties(server)))
    }
}
