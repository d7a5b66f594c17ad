//! All tests of rtflash-run in one program, a module a topic.

mod admission;
mod altered;
mod behind_a_host;
mod certified;
#[path = "../../../rtflash-ftl/tests/it/common/mod.rs"]
mod common;
mod described_both_ways;
mod drawn;
mod faster;
#[path = "../../../rtflash-ftl/tests/it/common/flash.rs"]
mod flash;
mod honest;
mod images;
mod least;
mod left_out;
mod lifetime;
mod migration;
mod police;
mod power_loss;
mod promises;
mod watched;
#[path = "../../../rtflash-ftl/tests/it/common/whole.rs"]
mod whole;
