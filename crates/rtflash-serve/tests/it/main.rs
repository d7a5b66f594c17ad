//! All tests of rtflash-serve in one program, a module a topic.

#[path = "../../../../tests/it/common/cases.rs"]
mod cases;
mod clients;
mod drive;
