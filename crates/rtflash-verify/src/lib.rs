//! The independent verifier: the thesis's equations in plain exact arithmetic.
//!
//! This crate shares nothing but the model with the crates whose answers it judges: it is written
//! from the thesis, slow where it may be, and clever nowhere.
//!
//! - [`verify`] and [`verify_part_ftl`]: whether a given allocation passes the test, cluster by
//!   cluster.
//! - [`verify_baseline`]: the same for the field's own schemes (docs/baselines.md).
//! - [`verify_certified`]: whether an allocation with certificates keeps what the sound analyses
//!   promise; written from docs/analysis.md.
//! - [`impossible`]: the tests that no allocation can do without.
//! - [`Theory`]: the terms of Theorem 1, for reference implementations of the algorithms.
//!
//! A camera on all sixteen chips takes some 60 % of what Theorem 1 lets them do:
//!
//! ```
//! use rtflash_verify::{Equations, verify};
//! use rtflash_model::{Allocation, Cluster, Device, Request, Span, Task, TaskSet};
//!
//! let device = Device::profile("dgist-2021").ok_or("no such device")?;
//! let camera = Task { name: "camera".into(), read: None, write: Request::new(24, Span::from_us(30_000)), data_pages: None };
//! let set = TaskSet::new(device, vec![camera], vec![]).map_err(|wrong| wrong[0].to_string())?;
//! let all = Allocation::new(16, 1, &[Cluster::of(0..16, [0])])?;
//! let verification = verify(&set, &all, Equations::Thesis);
//! assert!(verification.schedulable());
//! assert_eq!(verification.clusters[0].exact_utilization().to_string(), "1267/2125");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod baselines;
mod certified;
mod dhara;
mod equations;
mod necessary;
mod on_chip;
mod part_ftl;
mod quotient;
mod verifier;

pub use baselines::{BaselineScheme, verify_baseline};
pub use certified::{CertifiedClusterVerification, CertifiedVerification, Shares, verify_certified};
pub use equations::{Equations, Theory};
pub use necessary::{impossible, impossible_with_zones};
pub use part_ftl::{PartFtlVerification, verify_part_ftl};
pub use quotient::Quotient;
pub use verifier::{ClusterVerification, Verification, verify};
