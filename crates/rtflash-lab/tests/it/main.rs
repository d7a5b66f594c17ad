//! All tests of rtflash-lab in one program, a module a topic.

#[path = "../../../rtflash-ftl/tests/it/common/mod.rs"]
mod common;
mod failing;
#[path = "../../../rtflash-ftl/tests/it/common/flash.rs"]
mod flash;
mod necessary;
mod stock;
mod terms;
mod worked_examples;
