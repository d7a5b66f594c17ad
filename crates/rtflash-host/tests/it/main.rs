//! All tests of rtflash-host in one program, a module a topic.

mod agreement;
mod ahead;
mod batches;
mod bounds;
mod card;
mod chains;
mod climber;
mod deadlines;
mod draws;
mod fio;
mod fio_facts;
mod flushes;
mod nvme;
mod plain_host;
mod rounds;
mod runs;
mod sums;
mod trace;
mod tune;
mod twins;
mod variety;
mod writeback;
