//! All tests of rtflash-alloc in one program, a module a topic.

mod admission;
mod advised;
mod agreement;
mod algorithm_1;
mod baselines;
mod common;
mod dhara;
mod extremes;
mod given_up;
mod grounds;
mod necessary;
mod own_analyses;
mod placed_exact;
mod plain;
mod proved;
mod rectangles;
mod refined;
mod settled;
mod sound;
mod sound_agreement;
mod verified;
