//! Ways in: task sets and devices made of what others have recorded or configured.
//!
//! | from | to | how |
//! |---|---|---|
//! | a robot's bag ([MCAP](bag::read_bag)) | the write task of a recorder | most bytes of the bag in any window of the flush interval |
//! | [fio's iolog](BlockFormat::Fio), [blkparse](BlockFormat::Blkparse), [MSR's CSV](BlockFormat::Msr) | job streams | each request at its time, and an [arrival curve](arrival_curve) in bytes and pages |
//! | [MQSim's `ssdconfig.xml`](mqsim::read_ssd_config) | a device | the worst of its latencies, one plane at a time |
//!
//! A reader takes a format's units as the format defines them and guesses none. Lines that it
//! cannot read it counts, and says why ([`Lines`]). Times that are implausible in these units are
//! doubted ([`Extent::doubts`]).
//!
//! Two requests that fio has logged:
//!
//! ```
//! use rtflash_exchange::import::{BlockFormat, arrival_curve, job_streams, read_block_trace};
//!
//! let log = "fio version 3 iolog\n0 disk add\n0 disk open\n100 disk read 0 8192\n1600 disk write 4096 4096\n";
//! let trace = read_block_trace(log.as_bytes(), BlockFormat::Fio)?;
//! assert_eq!(trace.requests.len(), 2);
//! // The most in a window of 1 ms, and in one of 2 ms.
//! let curve = arrival_curve(&trace.requests, 4096);
//! let most: Vec<(u64, u64)> = curve.iter().map(|point| (point.bytes, point.pages)).collect();
//! assert_eq!(most, [(8192, 2), (12288, 3)]);
//! let jobs = job_streams(&trace.requests, 4096).ok_or("too long")?;
//! assert_eq!((jobs[0].read_pages, jobs[1].write_pages), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bag;
mod blkparse;
mod block;
mod curve;
mod extent;
mod fio;
mod jobs;
mod lines;
pub mod mqsim;
mod msr;
mod trace_line;

pub use block::{BlockFormat, BlockTrace, BlockTraceError, MAX_REQUESTS, TracedRequest, read_block_trace};
pub use curve::{CurvePoint, arrival_curve};
pub use extent::{Extent, TimeBase};
pub use jobs::{job_streams, pages_touched};
pub use lines::{Lines, MAX_LINE, RefusedLine};
