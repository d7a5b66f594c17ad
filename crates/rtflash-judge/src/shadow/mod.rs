//! The device and its jobs as the records have them, kept apart from the machine's own state.

pub(crate) mod jobs;
pub(crate) mod pages;
