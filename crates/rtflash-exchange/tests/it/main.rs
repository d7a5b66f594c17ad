//! All tests of rtflash-exchange in one program, a module a topic.

mod bags;
mod block_traces;
mod common;
mod fio_export;
mod mqsim_export;
mod ssd_configs;
