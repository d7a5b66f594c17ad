//! Whole sets: pinned ones, their totals, their distribution, and what cannot be drawn.

mod distribution;
mod pinned;
mod sets;
