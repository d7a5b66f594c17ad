//! All tests of rtflash-ftl in one program, a module a topic.

mod any_bytes;
mod backfill;
mod common;
#[path = "common/flash.rs"]
mod flash;
mod image;
mod losses;
mod power_loss;
mod valid_pages;
#[path = "common/whole.rs"]
mod whole;
