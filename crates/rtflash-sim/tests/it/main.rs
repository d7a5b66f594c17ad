//! All tests of rtflash-sim in one program, a module a topic.

mod agreement;
mod certified_plans;
mod common;
mod firmware;
mod hosted;
mod naive;
mod naive_alone;
mod naive_placed;
mod placed_agreement;
mod placed_worlds;
mod resumed;
mod small_worlds;
mod worlds;
