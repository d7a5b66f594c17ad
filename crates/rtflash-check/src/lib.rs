//! The independent verifier: the thesis's equations in plain exact arithmetic, and its algorithms
//! in their plain form.
//!
//! This crate shares nothing but the model with the crates whose answers it judges: it is written
//! from the thesis, slow where it may be, and clever nowhere.
//!
//! - [`verify`] and [`verify_part_ftl`]: whether a given allocation passes the test, cluster by
//!   cluster.
//! - [`verify_certified`]: whether an allocation with certificates keeps what the sound analyses
//!   promise; written from docs/analysis.md.
//! - [`plain`]: Algorithm 1 and its baselines as printed, over any number; in rationals they are
//!   the truth, in doubles the naive speed.

mod certified;
mod equations;
mod on_chip;
mod part_ftl;
pub mod plain;
mod scalar;
mod verifier;

pub use certified::{CertifiedClusterVerification, CertifiedVerification, Shares, verify_certified};
pub use equations::Equations;
pub use part_ftl::{PartFtlVerification, verify_part_ftl};
pub use scalar::Scalar;
pub use verifier::{ClusterVerification, Verification, verify};
