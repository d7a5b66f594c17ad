//! The numbers of garbage collection that follow from D_g: docs/analysis.md, Section 2.2.

use num_bigint::BigInt;
use num_traits::{One, Zero};
use rtflash_model::{Certificate, Cluster, Placement, Span, TaskSet};

use super::numbers::pages_on_unit;

/// H, F, v and α.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbers {
    /// D_g; `None` where nothing real-time writes.
    pub deadline: Option<Span>,
    pub reserve: BigInt,
    pub open_blocks: BigInt,
    pub victim: BigInt,
    pub reclaimed: BigInt,
}

/// What is to be said about garbage collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recomputed {
    /// Nothing: nothing is ever written.
    None,
    /// These numbers.
    Numbers(Numbers),
    /// That it cannot keep its promise, and why.
    Impossible(String),
}

/// Computes the numbers anew.
pub(super) fn recompute(set: &TaskSet, cluster: &Cluster, certificate: &Certificate) -> Recomputed {
    let device = set.device();
    let server = certificate.server_thousandths > 0;
    let size = u64::from(cluster.size());
    let writes: Vec<(u64, u64)> = cluster
        .tasks
        .iter()
        .filter_map(|&task| set.tasks()[task].write)
        .map(|write| (write.period().as_ns(), pages_on_unit(&write, certificate.placement, size)))
        .collect();
    if writes.is_empty() && !server {
        return Recomputed::None;
    }
    let pages_per_block = BigInt::from(device.pages_per_block());
    let one = BigInt::one();
    // PP, and R with a server.
    let (per_block, drawn) = match certificate.placement {
        Placement::Stripe => (pages_per_block.clone(), pages_per_block),
        Placement::Superblock => (&pages_per_block * size, &pages_per_block * size + size - &one),
    };
    let drawn = if server { drawn } else { BigInt::zero() };
    // Where nothing real-time writes R alone would do; certificates have PP − 1 more, as with A = 0, and hold a fortiori.
    let (deadline, reserve, pending) = if writes.is_empty() {
        (None, &per_block - &one + drawn, BigInt::zero())
    } else {
        let Some(deadline) = certificate.collection.and_then(|collection| collection.deadline) else {
            return Recomputed::Impossible("tasks write, and GC jobs have no deadline".into());
        };
        let jobs = |period: u64| BigInt::from(deadline.as_ns().div_ceil(period));
        let arriving: BigInt = writes.iter().map(|&(period, pages)| jobs(period) * pages).sum();
        let pending: BigInt = writes.iter().map(|&(_, pages)| BigInt::from(pages)).sum();
        (Some(deadline), arriving + &per_block - &one + drawn, pending)
    };
    // H is at least one here, as A is with a writer, and R with a server.
    let open_blocks = (&reserve - &one + pending) / &per_block + 1 + u32::from(server);
    let eligible = BigInt::from(device.blocks_per_chip()) - &open_blocks;
    if eligible <= BigInt::zero() {
        return Recomputed::Impossible(format!("F is {open_blocks}: no block of a unit can be a victim"));
    }
    let victim = logical_pages(set, cluster, certificate.placement) / eligible;
    let reclaimed = &per_block - &victim;
    if reclaimed < one {
        return Recomputed::Impossible(format!("v is {victim}: a pass reclaims nothing"));
    }
    Recomputed::Numbers(Numbers { deadline, reserve, open_blocks, victim, reclaimed })
}

/// Λ: logical pages on a unit.
fn logical_pages(set: &TaskSet, cluster: &Cluster, placement: Placement) -> BigInt {
    let device = set.device();
    let physical = u64::from(device.blocks_per_chip()) * u64::from(device.pages_per_block());
    let chip = BigInt::from(device.logical_ratio().floor_of(physical));
    match placement {
        Placement::Stripe => chip,
        Placement::Superblock => chip * cluster.size(),
    }
}

/// Complains of what the certificate states differently.
pub(super) fn compare(recomputed: &Recomputed, certificate: &Certificate, complaints: &mut Vec<String>) {
    let numbers = match (recomputed, &certificate.collection) {
        (Recomputed::Impossible(why), _) => return complaints.push(why.clone()),
        (Recomputed::None, None) => return,
        (Recomputed::None, Some(_)) => {
            return complaints.push("garbage collection where nothing is ever written".into());
        }
        (Recomputed::Numbers(_), None) => {
            return complaints.push("no garbage collection where something is written".into());
        }
        (Recomputed::Numbers(numbers), Some(stated)) => (numbers, stated),
    };
    let (numbers, stated) = numbers;
    if numbers.deadline != stated.deadline {
        complaints.push("GC jobs have a deadline, and nothing real-time writes".into());
    }
    for (what, truth, said) in [
        ("H", &numbers.reserve, stated.reserve_pages),
        ("F", &numbers.open_blocks, stated.open_blocks),
        ("v", &numbers.victim, stated.victim_pages),
        ("alpha", &numbers.reclaimed, stated.reclaimed_pages),
    ] {
        if *truth != BigInt::from(said) {
            complaints.push(format!("{what} is {truth}, not {said}"));
        }
    }
}
