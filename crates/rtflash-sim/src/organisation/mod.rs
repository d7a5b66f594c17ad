//! The order of operations: EDF in every cluster, by the organisation of its chips.

pub(crate) mod certified;
pub(crate) mod cluster;
pub(crate) mod group;
pub(crate) mod parallel;
pub(crate) mod releases;
pub(crate) mod serial;
