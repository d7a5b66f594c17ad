//! The checkers: a file an assumption, or several that are seen in one place.

pub(crate) mod blocking;
pub(crate) mod bus_wait;
pub(crate) mod collect;
pub(crate) mod contention;
pub(crate) mod deadlines;
pub(crate) mod desks;
pub(crate) mod erase_step;
pub(crate) mod exclusion;
pub(crate) mod failures;
pub(crate) mod length;
pub(crate) mod longest;
pub(crate) mod order;
pub(crate) mod page_order;
pub(crate) mod passes;
pub(crate) mod processors;
pub(crate) mod read_waits;
pub(crate) mod registers;
pub(crate) mod releases;
pub(crate) mod service;
pub(crate) mod turns;
pub(crate) mod watched_pass;
pub(crate) mod zones;
