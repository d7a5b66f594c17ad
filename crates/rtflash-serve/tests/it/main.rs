//! All tests of rtflash-serve in one program, a module a topic.

mod clients;
mod drive;
