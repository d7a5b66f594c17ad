//! Random search for a broken assumption.

mod draw;

pub use draw::{Case, World, draw};
