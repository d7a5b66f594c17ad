//! The reach of the sound analyses: Σ over U = 0.1 … 8.0 of 0.1 · ratio of schedulable sets.
use rayon::prelude::*;
use rtflash::alloc::analysis::{Analysis, Thesis, fits_alone};
use rtflash::alloc::sound::{Choice, Kind, Unit, choose};
use rtflash::model::generate::{Generator, SetOptions, SetSpec, Utilization, Writes};
use rtflash::model::{Access, Device, Task, TaskSet};

fn smallest(set: &TaskSet, mask: usize, sizes: &[u32], kind: impl Fn(u32) -> Kind) -> u32 {
    let tasks: Vec<&Task> =
        set.tasks().iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, t)| t).collect();
    for &s in sizes {
        if let Some(unit) = Unit::new(set.device(), tasks.iter().copied(), s, kind(s))
            && matches!(choose(&unit, 0, false), Choice::Holds(_))
        {
            return s;
        }
    }
    u32::MAX
}

fn fits(set: &TaskSet, sizes: &[u32], kind: impl Fn(u32) -> Kind + Copy) -> bool {
    let n = set.tasks().len();
    let mut size = vec![0u32; 1 << n];
    for mask in 1..1usize << n {
        let floor = (0..n).filter(|i| mask >> i & 1 == 1).map(|i| size[mask & !(1 << i)]).max().unwrap_or(0);
        if floor == u32::MAX {
            size[mask] = u32::MAX;
            continue;
        }
        let from: Vec<u32> = sizes.iter().copied().filter(|&s| s >= floor).collect();
        size[mask] = smallest(set, mask, &from, kind);
    }
    let mut best = vec![u32::MAX; 1 << n];
    best[0] = 0;
    for mask in 1..1usize << n {
        let low = mask & mask.wrapping_neg();
        let mut sub = mask;
        while sub > 0 {
            if sub & low != 0 && size[sub] != u32::MAX && best[mask ^ sub] != u32::MAX {
                best[mask] = best[mask].min(size[sub] + best[mask ^ sub]);
            }
            sub = (sub - 1) & mask;
        }
    }
    best[(1 << n) - 1] <= set.device().chips()
}

fn main() {
    let sets: u64 = std::env::args().nth(1).and_then(|t| t.parse().ok()).unwrap_or(20);
    let device = Device::profile("dgist-2021").unwrap();
    let spec = SetSpec {
        device,
        tasks: 8,
        generator: Generator::UUniFast,
        page_costs: Thesis.page_costs(&device),
        writes: Writes::Drawn,
        seed: 1,
    };
    let options = SetOptions::new(spec).unwrap();
    let all: Vec<u32> = (1..=16).collect();
    let mut sums = [0.0f64; 4];
    for tenths in 1..=60u64 {
        let u = Utilization::from_billionths(tenths * 100_000_000).unwrap();
        let counts = (0..sets)
            .into_par_iter()
            .map(|i| {
                let Ok(set) = options.draw(u, i, |d, t| fits_alone(&Thesis, d, t)) else { return [0u64; 4] };
                let seq: Vec<Task> = set
                    .tasks()
                    .iter()
                    .map(|t| Task {
                        name: t.name.clone(),
                        read: t.read.map(|r| r.with_access(Access::Sequential)),
                        write: t.write.map(|r| r.with_access(Access::Sequential)),
                        data_pages: None,
                    })
                    .collect();
                let seq = TaskSet::new(device, seq, vec![]).unwrap();
                [
                    u64::from(fits(&seq, &all, |_| Kind::Stripe)),
                    u64::from(fits(&set, &[1], |_| Kind::Stripe)),
                    u64::from(fits(&set, &all, |_| Kind::Superblock { compact: false })),
                    u64::from(fits(&set, &[1, 2, 4, 8, 12, 16], |s| Kind::Superblock { compact: s % 4 == 0 || s < 4 })),
                ]
            })
            .reduce(|| [0; 4], |a, b| std::array::from_fn(|k| a[k] + b[k]));
        for k in 0..4 {
            sums[k] += 0.1 * counts[k] as f64 / sets as f64;
        }
        if counts.iter().all(|&c| c == 0) {
            break;
        }
    }
    println!("S sequential {:.3}, S random {:.3}, D any {:.3}, D compact {:.3}", sums[0], sums[1], sums[2], sums[3]);
}
