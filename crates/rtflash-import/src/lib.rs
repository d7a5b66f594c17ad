//! Ways in: task sets and devices made of what others have recorded or configured.
//!
//! | from | to | how |
//! |---|---|---|
//! | a robot's bag ([MCAP](bag::read_bag)) | write tasks of a recorder | most bytes of a topic in any window of the flush interval |
//! | [fio's iolog](BlockFormat::Fio), [blkparse](BlockFormat::Blkparse), [MSR's CSV](BlockFormat::Msr) | job streams | each request at its time, and an [arrival curve](arrival_curve) |
//! | [MQSim's `ssdconfig.xml`](mqsim::read_ssd_config) | a device | the worst of its latencies, one plane at a time |
//!
//! A reader takes a format's units as the format defines them and guesses none. Lines that it
//! cannot read it counts, and says why ([`Lines`]).

pub mod bag;
mod blkparse;
mod block;
mod curve;
mod fio;
mod jobs;
mod lines;
pub mod mqsim;
mod msr;
mod trace_line;

pub use block::{BlockFormat, BlockTrace, BlockTraceError, MAX_REQUESTS, TracedRequest, read_block_trace};
pub use curve::{CurvePoint, arrival_curve};
pub use jobs::{job_streams, pages_touched};
pub use lines::{Lines, MAX_LINE, RefusedLine};
