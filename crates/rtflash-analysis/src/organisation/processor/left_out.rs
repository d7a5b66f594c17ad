//! A processor with a term left out of its tests.

use rtflash_model::{Device, Span};

use super::Processor;
use crate::term::Term;
use crate::time::Cost;

impl Processor {
    /// With a term left out. What passes a test so is not guaranteed.
    pub(crate) fn leaving_out(mut self, term: Term, device: &Device) -> Processor {
        let hold = Cost::from(device.bus_hold());
        let own = |base: Span| Cost::from(base).checked_add(hold);
        let (read, program) = (own(device.page_read()), own(device.page_program()));
        let erase = Cost::from(device.block_erase());
        for task in &mut self.tasks {
            match term {
                Term::Blocking => task.step = Cost::ZERO,
                // Where it cannot be added up, the step was that long already.
                Term::StepWait if task.resets => task.step = erase,
                Term::ResetStep if task.resets => task.step = Cost::ZERO,
                Term::ResetPage if task.resets => task.transfers = task.transfers.rounded_down(),
                Term::StepWait => task.step = if task.writes { program } else { read }.unwrap_or(task.step),
                Term::Window => task.jitter = Span::ZERO,
                Term::StreamPage if !task.resets => {
                    task.transfers = task.transfers.rounded_down();
                    task.pages = task.pages.rounded_down();
                }
                _ => {}
            }
        }
        if term == Term::SpareBlocks {
            self.blocks = device.blocks_per_chip().into();
        }
        if term == Term::Resets {
            self.tasks.retain(|task| !task.resets);
        }
        if term == Term::StreamPage {
            self.write_streams.iter_mut().for_each(|writer| writer.pages = writer.pages.rounded_down());
        }
        if term == Term::Beside {
            self.costs.beside = Cost::ZERO;
        }
        if let Some(registers) = self.registers.filter(|_| term == Term::OwnRow) {
            let less = registers.with_rows_as_reads();
            self.tasks.iter_mut().filter(|task| task.writes).for_each(|task| task.step_cost = less.row());
            self.registers = Some(less);
        }
        if let Some(registers) = self.registers.filter(|_| term == Term::ToldRead) {
            let less = registers.without_command();
            self.tasks.iter_mut().filter(|task| !task.writes).for_each(|task| task.step_cost = less);
        }
        self.left_out = Some(term);
        self
    }

    /// Whether this term is left out.
    pub(crate) fn leaves_out(&self, term: Term) -> bool {
        self.left_out == Some(term)
    }
}
