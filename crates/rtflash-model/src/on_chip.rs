//! The time of a page operation on its chip alone, whatever a device's stated times contain.

use crate::time::Span;

/// A time of an operation: a single one, or a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperationTime {
    pub(crate) longest: Span,
    /// At least, if a range is stated.
    pub(crate) shortest: Option<Span>,
}

impl OperationTime {
    pub(crate) fn is_valid(self) -> bool {
        let low = self.shortest.unwrap_or(self.longest);
        low > Span::ZERO && low <= self.longest
    }

    /// On the chip, the transfer over the bus apart: the longest of both, and the shortest. `None`
    /// if nothing is left, or more at the shortest than at the longest.
    pub(crate) fn without(self, transfer: OperationTime) -> Option<OperationTime> {
        let without = |whole: Span, transfer: Span| whole.checked_sub(transfer).filter(|&left| left > Span::ZERO);
        let longest = without(self.longest, transfer.longest)?;
        let Some(shortest) = self.shortest else { return Some(OperationTime { longest, shortest: None }) };
        let shortest = without(shortest, transfer.shortest.unwrap_or(transfer.longest))?;
        (shortest <= longest).then_some(OperationTime { longest, shortest: Some(shortest) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_chip(stated: (u32, u32), transfer: (u32, u32)) -> Option<(u64, u64)> {
        let range = |(low, high): (u32, u32)| OperationTime {
            longest: Span::from_us(high),
            shortest: (low != high).then(|| Span::from_us(low)),
        };
        let of = range(stated).without(range(transfer))?;
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
