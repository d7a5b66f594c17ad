//! Numbers that are cut on purpose.

/// The number, or 2⁶⁴ − 1 if it is larger: for bounds that nothing reaches from there on.
pub fn capped(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
