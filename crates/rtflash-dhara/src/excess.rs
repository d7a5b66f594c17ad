//! Reads by which trims exceed as many writes: ρ of SPEC.md, which has the proof.

/// The most that trims in a part of the map exceed writes by.
#[derive(Debug, Clone, Copy)]
struct Surplus {
    /// If one of the part's living sectors has lived since t₀.
    kept: i64,
    /// If all were written when they had no page.
    anew: i64,
}

/// Sectors whose numbers are alike in all but some last bits.
#[derive(Debug, Clone)]
struct SectorPart {
    sectors: i64,
    /// By the steps of a walk above it.
    by_steps: Vec<Surplus>,
}

impl Surplus {
    /// Both halves have living sectors.
    fn and(self, other: Surplus) -> Surplus {
        let kept = (self.kept + other.kept.max(other.anew)).max(self.anew + other.kept);
        Surplus { kept, anew: self.anew + other.anew }
    }

    fn or(self, other: Surplus) -> Surplus {
        Surplus { kept: self.kept.max(other.kept), anew: self.anew.max(other.anew) }
    }
}

/// A place where sectors part, between two halves, with this many bits below it.
struct Parting {
    bits: i64,
    below: i64,
}

impl Parting {
    /// Trimmed sectors in the half beside this one, none of them, one or all.
    fn beside(&self, half: Surplus, trimmed: i64, steps: i64) -> Surplus {
        let trim = 2 * steps + 1 - self.bits;
        let more = |last: i64| 0.max(last + trim.max(trimmed * trim));
        Surplus { kept: half.kept + more(self.below), anew: half.anew + more(self.bits - steps) }
    }

    fn join(&self, left: &SectorPart, right: &SectorPart) -> SectorPart {
        let by_steps = left.by_steps.windows(2).zip(right.by_steps.windows(2)).zip(0..);
        let joined = by_steps.map(|((left_steps, right_steps), steps)| {
            let [left_none, left_step] = [left_steps[0], left_steps[1]];
            let [right_none, right_step] = [right_steps[0], right_steps[1]];
            let both = if steps == 0 {
                left_step.and(right_step)
            } else {
                left_none.and(right_step).or(left_step.and(right_none))
            };
            let left_alone = self.beside(left_none, right.sectors, steps);
            both.or(left_alone).or(self.beside(right_none, left.sectors, steps))
        });
        SectorPart { by_steps: joined.collect(), sectors: left.sectors + right.sectors }
    }
}

/// The part of these sectors, whose numbers have `height` bits of their own, in a map of `bits`.
fn part(sectors: u32, height: u32, bits: i64) -> SectorPart {
    let by_steps = (0..=bits).map(|steps| Surplus { kept: 0, anew: steps - bits }).collect();
    let mut full = SectorPart { sectors: 1, by_steps };
    // The part of the last sector.
    let mut last = full.clone();
    for (bit, below) in (0..height).zip(0..) {
        let parting = Parting { bits, below };
        if sectors.saturating_sub(1) >> bit & 1 == 1 {
            last = parting.join(&full, &last);
        }
        full = parting.join(&full, &full);
    }
    last
}

/// ρ of this number of sectors, whose numbers have this number of bits.
pub(crate) fn excess(sectors: u32, bits: u32) -> u64 {
    let Surplus { kept, anew } = part(sectors, bits, bits.into()).by_steps[0];
    kept.max(anew).max(0).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at;

    /// How a sector is at the end.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Fate {
        /// Lives, and has lived since t₀.
        Kept,
        /// Lives, and was written when it had no page.
        Anew,
        Trimmed,
        Unused,
    }

    fn lives(fates: &[Fate]) -> bool {
        fates.iter().any(|&fate| matches!(fate, Fate::Kept | Fate::Anew))
    }

    /// By how much these sectors exceed writes; a walk has `steps` above them.
    fn exceeds(fates: &[Fate], bits: i64, steps: i64) -> i64 {
        let &[fate] = fates else {
            let [left, right] = <[&[Fate]; 2]>::from(fates.split_at(fates.len().div_ceil(2).next_power_of_two()));
            let step = |half: &[Fate], taken: bool| exceeds(half, bits, steps + i64::from(taken));
            return match [lives(left), lives(right)] {
                [true, true] if steps == 0 => step(left, true) + step(right, true),
                [true, true] => (step(left, true) + step(right, false)).max(step(left, false) + step(right, true)),
                [true, false] => step(left, false) + beside(left, right, bits, steps),
                [false, true] => step(right, false) + beside(right, left, bits, steps),
                [false, false] => panic!("a living sector"),
            };
        };
        if fate == Fate::Anew { steps - bits } else { 0 }
    }

    /// The trims of a half without a living sector.
    fn beside(living: &[Fate], half: &[Fate], bits: i64, steps: i64) -> i64 {
        let trims = half.iter().filter(|&&fate| fate == Fate::Trimmed).count();
        // A half that is not full has as many bits as the other one.
        let below = i64::from(living.len().max(half.len()).next_power_of_two().ilog2());
        let last = if living.contains(&Fate::Kept) { below } else { bits - steps };
        let trims = i64::try_from(trims).unwrap();
        if trims == 0 { 0 } else { trims * (2 * steps + 1 - bits) + last }
    }

    #[test]
    fn the_most_is_that_of_all_fates() {
        // As the whole map, and as a part of one.
        for (sectors, above) in (1..=7_u32).flat_map(|sectors| [(sectors, 0), (sectors, 5)]) {
            let height = sectors.next_power_of_two().ilog2();
            let bits = i64::from(height) + above;
            let of = part(sectors, height, bits).by_steps;
            for (steps, surplus) in (0..=above).zip(of) {
                let fates = (0..4_u32.pow(sectors)).map(|code| -> Vec<Fate> {
                    let all = [Fate::Kept, Fate::Anew, Fate::Trimmed, Fate::Unused];
                    (0..sectors).map(|sector| all[at(code >> (2 * sector) & 3)]).collect()
                });
                let (kept, anew): (Vec<_>, Vec<_>) =
                    fates.filter(|fates| lives(fates)).partition(|fates| fates.contains(&Fate::Kept));
                let most = |all: Vec<Vec<Fate>>| all.iter().map(|fates| exceeds(fates, bits, steps)).max().unwrap();
                assert_eq!([surplus.kept, surplus.anew], [kept, anew].map(most), "{sectors} sectors, {steps} steps");
            }
        }
    }
}
