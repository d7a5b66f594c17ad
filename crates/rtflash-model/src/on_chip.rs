//! What a page operation takes on its chip alone, whatever a device's stated times contain.

use crate::time::Span;

/// How long a page is read or programmed on its chip, its transfer over the bus apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OnChip {
    /// At most.
    pub(crate) longest: Span,
    /// At least, where a range is stated.
    pub(crate) shortest: Option<Span>,
}

impl OnChip {
    /// Of a time as it is stated, and of a transfer, each with its shortest where that is a range.
    /// Where the transfer is `inside` the time, it is taken out of it, end by end: the longest
    /// operation has the longest transfer, and the shortest one the shortest.
    ///
    /// `None` where nothing is left on the chip, or more at the shortest than at the longest.
    pub(crate) fn new(
        (shortest, longest): (Option<Span>, Span),
        (short_transfer, transfer): (Option<Span>, Span),
        inside: bool,
    ) -> Option<OnChip> {
        if !inside {
            return Some(OnChip { longest, shortest });
        }
        let without = |whole: Span, transfer: Span| whole.checked_sub(transfer).filter(|&left| left > Span::ZERO);
        let longest = without(longest, transfer)?;
        let Some(shortest) = shortest else { return Some(OnChip { longest, shortest: None }) };
        let shortest = without(shortest, short_transfer.unwrap_or(transfer))?;
        (shortest <= longest).then_some(OnChip { longest, shortest: Some(shortest) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_chip(stated: (u32, u32), transfer: (u32, u32)) -> Option<(u64, u64)> {
        let range = |(low, high): (u32, u32)| ((low != high).then(|| Span::from_us(low)), Span::from_us(high));
        let of = OnChip::new(range(stated), range(transfer), true)?;
        Some((of.shortest.unwrap_or(of.longest).as_ns() / 1_000, of.longest.as_ns() / 1_000))
    }

    #[test]
    fn a_transfer_is_taken_out_end_by_end() {
        assert_eq!(on_chip((90, 90), (40, 40)), Some((50, 50)));
        assert_eq!(on_chip((80, 90), (40, 40)), Some((40, 50)));
        assert_eq!(on_chip((75, 90), (35, 40)), Some((40, 50)));
        // A single time is the longest, and stays one.
        assert_eq!(on_chip((90, 90), (35, 40)), Some((50, 50)));
    }

    #[test]
    fn what_leaves_nothing_on_the_chip_is_none() {
        for (stated, transfer) in
            [((40, 40), (40, 40)), ((39, 39), (40, 40)), ((40, 90), (40, 40)), ((88, 90), (30, 40))]
        {
            assert_eq!(on_chip(stated, transfer), None, "{stated:?} {transfer:?}");
        }
    }
}
