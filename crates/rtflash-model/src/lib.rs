//! The words of rtflash: time, device, task, allocation.
//!
//! Nothing here knows an algorithm, reads a file, a clock or the environment. These types hold only
//! valid values: the readers at the edge turn input into one of them once, or into an error that
//! names the field.
//!
//! | thesis | here | NAND datasheets |
//! |---|---|---|
//! | m | [`Device::chips`] | |
//! | m_c | [`Device::chips_per_channel`] | ways of a channel |
//! | t_r, t_w, t_e | [`Device::page_read`], [`Device::page_program`], [`Device::block_erase`] | tR, tPROG, tBERS |
//! | t_d | [`Device::page_transfer`] | |
//! | P | [`Device::pages_per_block`] | |
//! | λ | [`Device::logical_ratio`] | 1 / (1 + over-provisioning) |
//! | ⌈λP⌉ | [`Device::valid_pages_bound`] | |
//! | α | [`Device::reclaimed_per_chip`] | |
//! | C^g | [`Device::gc_pass`] | |
//! | τ_i = [(r, T^r), (w, T^w)] | [`Task`] of two [`Request`]s | |
//! | J_j = (r_j, w_j) | [`Job`] | |
//! | φ, Φ and Λ | [`Cluster`], [`Allocation`] | |
//! | (none: data that fit) | [`Space`] | |
//!
//! A task set, made and written as a file has it:
//!
//! ```
//! use rtflash_model::{Device, Request, Span, Task, TaskSet, read_task_set, write_task_set};
//!
//! let device = Device::profile("dgist-2021").ok_or("no such device")?;
//! let camera = Task { name: "camera".into(), read: None, write: Request::new(24, Span::from_us(30_000)), data_pages: None };
//! let set = TaskSet::new(device, vec![camera], vec![]).map_err(|wrong| wrong[0].to_string())?;
//! let line = write_task_set(&set, None);
//! assert_eq!(line, r#"{"device":"dgist-2021","tasks":[{"name":"camera","write":{"pages":24,"period":"30ms"}}]}"#);
//! assert_eq!(read_task_set(&line).map_err(|wrong| wrong.to_string())?.set, set);
//! # Ok::<(), String>(())
//! ```

// For the macros `ids` and `names`.
#[doc(hidden)]
pub use serde;

mod allocation;
mod arrivals;
mod capped;
mod certificate;
mod device;
mod file;
pub mod generate;
mod ids;
mod invalid;
mod names;
mod on_chip;
pub mod random;
pub mod reading {
    //! How files are read: values with their places in the text, and all that is wrong with them.
    //! For readers of other files.

    pub use crate::file::{Change, ChangeError, JsonKind, Place, Reader, Slot, nearest, parse_bytes, quote, quoted};
}

mod profiles;
mod ratio;
mod rectangle;
mod reliance;
mod space;
mod task;
mod task_set;
mod time;

pub use allocation::{Allocation, AllocationError, Cluster, Remarks};
pub use arrivals::{Arrivals, exponential};
pub use capped::capped;
pub use certificate::{Certificate, Collection, Placement, Tightest};
pub use device::{Device, DeviceSpec, MAX_CHIPS, Shortest, StatedTimes};
pub use file::{
    ANSWER_FORMAT, AllocationRecord, Diagnostic, Diagnostics, Frame, FrameTooLong, Frames, MAX_FRAME, MetaJson,
    PartialAllocation, TaskSetFile, allocation_schema, line_column, read_allocation, read_allocation_record,
    read_device, read_partial_allocation, read_task_set, read_task_set_bytes, task_set_schema, write_device,
    write_device_in_full, write_task_set,
};
pub use ids::{ChipId, ClusterId, Id, Lpn, PerId, TaskId};
pub use invalid::{Invalid, Path, PathStep};
pub use profiles::{PROFILES, Profile};
pub use ratio::{LogicalRatio, MAX_DECIMALS, RatioError};
pub use rectangle::ChipRectangle;
pub use reliance::Reliance;
pub use space::Space;
pub use task::{Access, Job, Request, Task};
pub use task_set::TaskSet;
pub use time::{Instant, Span, TIME_LIMIT_NS, TimeError, format_ns, parse_ns};
