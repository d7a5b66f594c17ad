//! A device to try: each task's range as an export that clients of the NBD protocol read and write,
//! on the simulated chips of a certified allocation, at the pace of the simulated device.
//!
//! - [`Export`]: what a client sees of a task.
//! - [`Drive`]: the device in simulated time, with a shaper for each task: it holds what comes
//!   early and cuts what is too large, so that no guarantee depends on what a client does.
//! - [`serve`]: clients on a socket, the drive at the pace of the clock, data in a file.
//!
//! docs/serve.md has what it promises.

mod backing;
mod drive;
mod export;
mod nbd;
mod police;
mod server;

pub use backing::DataFile;
pub use drive::{ClientAction, ClientCommand, Drive, DriveError, ServedExport, ServedRequests, ServedRun};
pub use export::Export;
pub use server::{ServeOptions, Served, serve};
