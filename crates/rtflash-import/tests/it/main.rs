//! All tests of rtflash-import in one program, a module a topic.

mod bags;
mod block_traces;
mod common;
mod ssd_configs;
