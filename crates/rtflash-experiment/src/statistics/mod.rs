//! What counts say about the population they were drawn from. All intervals are two-sided, of 95 %.
//!
//! Only additions, multiplications, divisions and square roots are used, which IEEE 754 rounds
//! correctly: the same numbers everywhere.

mod mean;
mod paired;
mod proportion;
#[cfg(test)]
mod tests;
mod weighted;

pub use mean::{PairSums, difference_of_means, mean, student_quantile};
pub use paired::{difference, gain};
pub use proportion::wilson;
pub use weighted::{Share, weighted};

/// The 97.5 % quantile of the normal distribution.
pub const Z: f64 = 1.959_963_984_540_054;

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval; may be infinite.
    pub high: f64,
}

fn float(count: u64) -> f64 {
    count as f64
}
