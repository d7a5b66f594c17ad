//! All tests of rtflash-run in one program, a module a topic.

mod admission;
mod altered;
mod behind_a_host;
#[path = "../../../../tests/it/common/cases.rs"]
mod cases;
mod certified;
#[path = "../../../rtflash-ftl/tests/it/common/mod.rs"]
mod common;
mod described_both_ways;
mod drawn;
mod failing;
mod faster;
#[path = "../../../rtflash-ftl/tests/it/common/flash.rs"]
mod flash;
mod honest;
mod images;
mod least;
mod left_out;
mod lifetime;
mod migration;
mod necessary;
mod police;
mod power_loss;
mod promises;
mod stock;
mod terms;
mod watched;
#[path = "../../../rtflash-ftl/tests/it/common/whole.rs"]
mod whole;
mod worked_examples;
