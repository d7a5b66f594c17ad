//! All tests of rtflash-host in one program, a module a topic.

mod agreement;
mod ahead;
mod bounds;
mod climber;
mod deadlines;
mod draws;
mod fio;
mod nvme;
mod plain_host;
mod rounds;
mod runs;
mod sums;
mod trace;
mod tune;
mod twins;
