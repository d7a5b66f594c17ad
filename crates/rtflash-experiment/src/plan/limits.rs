//! How large an experiment may be.

/// Points that an experiment may have.
pub const MAX_POINTS: usize = 100_000;

/// Contenders that an experiment may have.
pub const MAX_CONTENDERS: usize = 64;
