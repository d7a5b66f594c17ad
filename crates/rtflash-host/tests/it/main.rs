//! All tests of rtflash-host in one program, a module a topic.

mod agreement;
mod ahead;
mod bounds;
mod draws;
mod fio;
mod nvme;
mod rounds;
mod runs;
mod trace;
mod twins;
