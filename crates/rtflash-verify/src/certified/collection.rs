//! The conditions on the numbers of garbage collection that a certificate states: docs/analysis.md,
//! Sections 2.2 and 8.

use num_bigint::BigInt;
use num_traits::{One, Zero};
use rtflash_model::{Certificate, Cluster, Collection, Placement, Request, Span, TaskSet};

use super::numbers::{PagesInARow, chips_of_processor, pages_on_processor};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    /// D_g; `None` where nothing real-time writes.
    pub deadline: Option<Span>,
    /// v.
    pub victim: u64,
    /// α, at least one.
    pub reclaimed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stated {
    /// Nothing that matters: nothing is ever written.
    Nothing,
    Numbers(Numbers),
    Unusable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verified {
    pub stated: Stated,
    /// The numbers below the need of the load: if there is any, nothing is promised.
    pub discrepancies: Vec<String>,
    /// The numbers above the need of the load.
    pub notes: Vec<String>,
}

struct CollectionLoad {
    per_block: BigInt,
    /// A, within the D_g that is stated.
    arriving: BigInt,
    /// W.
    pending: BigInt,
    server: bool,
    /// Pages that a server may draw beyond a block: s − 1 in a superblock, where it writes rows.
    row_rest: u64,
    /// Λ.
    logical: BigInt,
    /// N − N_s, Eq. (79): a block that fails takes those of its row with it.
    blocks: BigInt,
    /// N_g: one of N_g GC jobs levels wear.
    wear_passes: Option<u32>,
}

struct Write {
    period: u64,
    deadline: u64,
    jitter: u64,
    pages: PagesInARow,
}

fn writes(set: &TaskSet, cluster: &Cluster, placement: Placement) -> Vec<Write> {
    // A write to zones frees its blocks itself.
    if placement.is_zoned() {
        return vec![];
    }
    let size = u64::from(cluster.size());
    let writes = cluster.tasks.iter().filter_map(|&task| set.tasks()[task].write);
    let write = |write: Request| Write {
        period: write.period().as_ns(),
        deadline: write.deadline().as_ns(),
        jitter: write.jitter().as_ns(),
        pages: pages_on_processor(&write, placement, size),
    };
    writes.map(write).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReleasedGc {
    /// D_g.
    pub deadline: i128,
    /// α.
    pub reclaimed: i128,
    /// v.
    pub victim: i128,
}

/// `None` where it does not say, or less than the load needs; inside, where no GC job is released.
pub(super) fn released(set: &TaskSet, cluster: &Cluster, certificate: &Certificate) -> Option<Option<ReleasedGc>> {
    if writes(set, cluster, certificate.placement).is_empty() {
        return Some(None);
    }
    let enough = verify(set, cluster, certificate).discrepancies.is_empty();
    let stated = certificate.collection.filter(|_| enough)?;
    Some(Some(ReleasedGc {
        deadline: stated.deadline?.as_ns().into(),
        reclaimed: stated.reclaimed_pages.into(),
        victim: stated.victim_pages.into(),
    }))
}

pub(super) fn verify(set: &TaskSet, cluster: &Cluster, certificate: &Certificate) -> Verified {
    let server = certificate.server_thousandths > 0;
    let writes = writes(set, cluster, certificate.placement);
    let mut verified = Verified { stated: Stated::Unusable, discrepancies: vec![], notes: vec![] };
    if server && certificate.placement.is_zoned() {
        verified.discrepancies.push("a server, and zones are written by their tasks alone".into());
        return verified;
    }
    let Some(stated) = certificate.collection else {
        if writes.is_empty() && !server {
            verified.stated = Stated::Nothing;
        } else {
            verified.discrepancies.push("no garbage collection where something is written".into());
        }
        return verified;
    };
    if writes.is_empty() && !server {
        verified.notes.push("garbage collection where nothing is ever written".into());
        verified.stated = Stated::Nothing;
        return verified;
    }
    match (stated.deadline, writes.is_empty()) {
        (None, false) => {
            verified.discrepancies.push("tasks write, and GC jobs have no deadline".into());
            return verified;
        }
        (Some(_), true) => verified.notes.push("GC jobs have a deadline, and nothing real-time writes".into()),
        _ => {}
    }
    if stated.reclaimed_pages == 0 {
        verified.discrepancies.push("alpha is 0: a pass reclaims nothing".into());
        return verified;
    }
    let deadline = stated.deadline.filter(|_| !writes.is_empty());
    verified.stated =
        Stated::Numbers(Numbers { deadline, victim: stated.victim_pages, reclaimed: stated.reclaimed_pages });
    CollectionLoad::of(set, cluster, certificate, &writes, deadline).compare(&stated, &mut verified);
    verified
}

impl CollectionLoad {
    fn of(
        set: &TaskSet,
        cluster: &Cluster,
        certificate: &Certificate,
        writes: &[Write],
        deadline: Option<Span>,
    ) -> CollectionLoad {
        let device = set.device();
        let size = chips_of_processor(certificate.placement, cluster.size().into());
        let physical = u64::from(device.blocks_per_chip()) * u64::from(device.pages_per_block());
        // A and W, Eqs. (5) and (6): ⌈(D_g + J)/T⌉ requests of each writer, and ⌈D/T⌉.
        let requests = |write: &Write| {
            let window = deadline.map(|deadline| u128::from(deadline.as_ns()) + u128::from(write.jitter));
            BigInt::from(window.map_or(0, |window| window.div_ceil(write.period.into())))
        };
        // γ(requests).
        let pages = |write: &Write, requests: BigInt| {
            let chips = BigInt::from(write.pages.chips);
            (requests * write.pages.pages + &chips - 1) / chips
        };
        CollectionLoad {
            per_block: BigInt::from(device.pages_per_block()) * size,
            arriving: writes.iter().map(|write| pages(write, requests(write))).sum(),
            pending: writes.iter().map(|write| pages(write, write.deadline.div_ceil(write.period).into())).sum(),
            server: certificate.server_thousandths > 0,
            row_rest: size - 1,
            logical: BigInt::from(device.logical_ratio().floor_of(physical)) * size,
            blocks: BigInt::from(device.blocks_per_chip()) - BigInt::from(device.spare_blocks()) * size,
            wear_passes: device.wear_passes(),
        }
    }

    /// The inequalities of Section 8.
    fn compare(&self, stated: &Collection, verified: &mut Verified) {
        let [alpha, reserve, victim, open] =
            [stated.reclaimed_pages, stated.reserve_pages, stated.victim_pages, stated.open_blocks].map(BigInt::from);
        let one = BigInt::one();
        let mut compare = |what: &str, said: &BigInt, enough: bool, needed: &BigInt| {
            if !enough && needed < &one {
                verified.discrepancies.push(format!("{what} is {said}, and no number is small enough"));
            } else if !enough {
                verified.discrepancies.push(format!("{what} is {said}, and {needed} is needed"));
            } else if said != needed {
                verified.notes.push(format!("{what} is {said}, where {needed} would do"));
            }
        };
        // (C1): α + v ≤ PP. Eq. (84) says what would do.
        let gained = &self.per_block - &victim;
        let for_wear = self.wear_passes.map_or(BigInt::zero(), |passes| (&gained + passes - 1) / passes);
        let most = if for_wear >= gained { gained.clone().min(one.clone()) } else { &gained - for_wear };
        compare("alpha", &alpha, alpha <= gained, &most);
        // (C2): H ≥ A + α + v − 1 + R, with what α leaves for wear.
        let emptied = if self.wear_passes.is_some() { self.per_block.clone() } else { &alpha + &victim };
        let drawn = if self.server { &emptied + self.row_rest } else { BigInt::zero() };
        let least = &self.arriving + &emptied - &one + drawn;
        compare("H", &reserve, reserve >= least, &least);
        // (C3): F ≥ ⌊(H − 1 + W)/PP⌋ + 1, with the H that is stated.
        let held = (&reserve - &one + &self.pending).max(BigInt::zero());
        let least = held / &self.per_block + 1 + u32::from(self.server);
        compare("F", &open, open >= least, &least);
        // (C4): v ≥ ⌊Λ/(N − F')⌋, with the F' that follows.
        let eligible = &self.blocks - &least;
        if eligible <= BigInt::zero() {
            verified.discrepancies.push(format!("F is {least}: no block of a unit can be a victim"));
        } else {
            let least = &self.logical / eligible;
            compare("v", &victim, victim >= least, &least);
        }
    }
}
