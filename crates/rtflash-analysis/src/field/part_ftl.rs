//! PaRT-FTL's own test: another device organization, with chips for reading and chips for writing.

use std::cmp::Ordering;

use rtflash_model::{Device, Request, Space, Task, TaskSet};

use crate::fraction::Rational;

/// PaRT-FTL's two utilizations (Missimer & West, RTSS 2018), as the thesis evaluated it.
#[derive(Debug, Clone, PartialEq)]
pub struct PartFtl {
    /// U_R: of the chips in read mode, blocking included.
    pub read_utilization: f64,
    /// U_W: of the chips in write mode, with encoding, GC and blocking.
    pub write_utilization: f64,
    /// Whether U_R is at most one, exactly.
    pub reads_fit: bool,
    /// Whether U_W is at most one, exactly.
    pub writes_fit: bool,
    /// Whether both fit, and each request has an implicit deadline.
    pub schedulable: bool,
    /// The tasks' data beside the logical pages of the N_d data chips; the other chips hold parity.
    pub space: Space,
}

struct Organization {
    /// N_p: parity chips; as many, W, are in write mode at a time.
    parity: u64,
    /// N_d: data chips.
    data: u64,
    /// a = t_r + t_d in nanoseconds.
    read: u128,
    /// b = t_w + t_d in nanoseconds.
    write: u128,
    transfer: u128,
    erase: u128,
    gc_pass: u128,
    pages_per_block: u64,
    /// θ = N_d·α: pages that a GC pass frees.
    reclaimed: u64,
}

impl PartFtl {
    /// Tests the set; `None` on a device of fewer than four chips, which has no parity chip.
    pub fn test(set: &TaskSet) -> Option<PartFtl> {
        let organization = Organization::of(set.device())?;
        let reads: Vec<Request> = set.tasks().iter().filter_map(|task| task.read).collect();
        let writes: Vec<Request> = set.tasks().iter().filter_map(|task| task.write).collect();
        let mut read_terms: Vec<Rational> = reads.iter().map(|&read| organization.read_term(read)).collect();
        read_terms.extend(blocking(organization.read, &reads));
        let mut write_terms: Vec<Rational> = writes.iter().flat_map(|&write| organization.write_terms(write)).collect();
        write_terms.extend(blocking(organization.erase, &writes));
        let (read, write) = (Rational::sum(&read_terms), Rational::sum(&write_terms));
        let [reads_fit, writes_fit] = [&read, &write].map(|sum| sum.cmp_one() != Ordering::Greater);
        Some(PartFtl {
            read_utilization: read.to_f64(),
            write_utilization: write.to_f64(),
            reads_fit,
            writes_fit,
            schedulable: reads_fit && writes_fit && set.tasks().iter().all(Task::has_whole_periods),
            space: Space::new(set.device(), set.tasks(), organization.data_chips(), None),
        })
    }
}

/// `longest` over the shortest period, where there is one.
fn blocking(longest: u128, requests: &[Request]) -> Option<Rational> {
    let shortest = requests.iter().map(|request| request.period().as_ns()).min()?;
    Some(Rational::product([longest], [shortest.into()]))
}

impl Organization {
    fn of(device: &Device) -> Option<Organization> {
        let parity = u64::from(device.chips() / 4);
        if parity == 0 {
            return None;
        }
        let data = u64::from(device.chips()) - parity;
        let transfer = u128::from(device.page_transfer().as_ns());
        Some(Organization {
            parity,
            data,
            read: u128::from(device.page_read().as_ns()) + transfer,
            write: u128::from(device.page_program().as_ns()) + transfer,
            transfer,
            erase: device.block_erase().as_ns().into(),
            gc_pass: device.gc_pass().as_ns().into(),
            pages_per_block: device.pages_per_block().into(),
            reclaimed: data * u64::from(device.reclaimed_per_chip()),
        })
    }

    fn data_chips(&self) -> u32 {
        u32::try_from(self.data).expect("fewer than the device's chips")
    }

    /// r·(a + 2t_d)/T^r: a read may have to be reconstructed from other chips.
    fn read_term(&self, read: Request) -> Rational {
        Rational::product([read.pages().into(), self.read + 2 * self.transfer], [read.period().as_ns().into()])
    }

    fn write_terms(&self, write: Request) -> [Rational; 3] {
        let (pages, period) = (u128::from(write.pages()), u128::from(write.period().as_ns()));
        let writing = Rational::product([write.pages().div_ceil(self.parity).into(), self.write], [period]);
        // C_e = ⌈N_p·P/W⌉·b, where N_p = W; T_e = T^w·N_d·P/w.
        let (data, block) = (u128::from(self.data), u128::from(self.pages_per_block));
        let encoding = Rational::product([block, self.write, pages], [period, data, block]);
        // C_gc = ((N_d + N_p)/W)·C^g; T_gc = T^w·θ/w if w > θ, else T^w·⌊θ/w⌋.
        let (chips, parity) = (u128::from(self.data + self.parity), u128::from(self.parity));
        let gc = if write.pages() > self.reclaimed {
            Rational::product([chips, self.gc_pass, pages], [parity, period, self.reclaimed.into()])
        } else {
            Rational::product([chips, self.gc_pass], [parity, period, u128::from(self.reclaimed / write.pages())])
        };
        [writing, encoding, gc]
    }
}
