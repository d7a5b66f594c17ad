//! Histories: calls of Dhara, and what the flash does, a line each.

use std::fmt;

use crate::map::Map;
use crate::nand::{DharaError, Nand, NandGeometry, NandOperation};

/// A line of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// This block left the factory bad. Only before the first start.
    Bad(u32),
    /// The n-th program or erase from now on fails, and all later ones of its block; then the m-th
    /// after that, unless m is zero.
    Fail(u32, u32),
    /// Power is lost before the n-th program or erase from now on. The next call but `Start` that
    /// comes so far does not return.
    Cut(u32),
    /// Power was lost, and the library starts anew.
    Start,
    /// Writes a sector.
    Write(u32),
    /// Reads a sector.
    Read(u32),
    /// Trims a sector.
    Trim(u32),
    /// Synchronizes.
    Sync,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Call::Bad(block) => write!(f, "bad {block}"),
            Call::Fail(n, m) => write!(f, "fail {n} {m}"),
            Call::Cut(n) => write!(f, "cut {n}"),
            Call::Start => f.write_str("start"),
            Call::Write(sector) => write!(f, "write {sector}"),
            Call::Read(sector) => write!(f, "read {sector}"),
            Call::Trim(sector) => write!(f, "trim {sector}"),
            Call::Sync => f.write_str("sync"),
        }
    }
}

/// A chip with Dhara, and the calls to it.
#[derive(Debug, Clone)]
pub struct DharaRun {
    map: Map,
    started: bool,
}

impl DharaRun {
    /// A chip as the factory left it.
    pub fn new(geometry: NandGeometry, gc_ratio: u32) -> DharaRun {
        DharaRun { map: Map::new(Nand::new(geometry), gc_ratio), started: false }
    }

    /// The line with which such a history begins.
    pub fn first_line(geometry: NandGeometry, gc_ratio: u32) -> String {
        format!("chip {} {} {} {gc_ratio}", geometry.log2_page, geometry.log2_block, geometry.blocks)
    }

    /// Its chip.
    pub fn nand(&mut self) -> &mut Nand {
        self.map.nand()
    }

    /// Makes a call. The operations are in [`DharaRun::take_log`]. A call before the first start
    /// does nothing.
    ///
    /// # Errors
    /// Dhara's.
    pub fn call(&mut self, call: Call) -> Result<(), DharaError> {
        match call {
            Call::Bad(block) => self.nand().factory_bad(block),
            Call::Fail(n, m) => self.nand().fail_in(n, m),
            Call::Cut(n) => self.nand().cut_in(n),
            Call::Start => {
                self.started = true;
                self.nand().power_on();
                return self.map.start();
            }
            _ if !self.started => {}
            Call::Write(sector) => return self.map.write(sector),
            Call::Read(sector) => self.map.read(sector),
            Call::Trim(sector) => return self.map.trim(sector),
            Call::Sync => return self.map.sync(),
        }
        Ok(())
    }

    /// The chip's operations since the last call of this method.
    pub fn take_log(&mut self) -> Vec<NandOperation> {
        std::mem::take(&mut self.nand().log)
    }
}

/// The line that ends what a call did.
pub fn last_line(result: Result<(), DharaError>) -> String {
    format!("= {}", result.map_or_else(|error| error as u8, |()| 0))
}
