//! Ways in and out: [`import`] makes task sets and devices of recordings and configurations of
//! others; [`export`] writes task sets and allocations for their simulators and drives.

pub mod export;
pub mod import;
