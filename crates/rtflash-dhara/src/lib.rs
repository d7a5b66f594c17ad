//! The costs of the calls of Dhara, the flash translation layer of Zephyr's disk driver and of
//! Espressif's `spi_nand_flash`.
//!
//! - [`costs`]: bounds on the operations of a read, a write, a trim, a sync and a start; the proofs
//!   are in SPEC.md.
//! - [`history`]: an executor of its operations, record for record as its C code issues them.
//!   `examples/compare.rs` compares the two.
//!
//! Dhara is the work of Daniel Beer (github.com/dlbeer/dhara). All facts here are of commit 1b166e4
//! of it; nothing of its code is here.

pub mod costs;
mod excess;
pub mod history;
mod journal;
mod map;
pub mod nand;

/// Blocks or attempts after which Dhara gives up (`DHARA_MAX_RETRIES` of `journal.h`).
pub(crate) const RETRIES: usize = 8;
/// Bytes of a user page's metadata (`DHARA_META_SIZE` of `journal.h`).
pub const META_BYTES: u32 = 132;
/// Bytes before the first of them (`DHARA_HEADER_SIZE`, `DHARA_COOKIE_SIZE`).
pub(crate) const HEADER_BYTES: u32 = 20;

fn at(number: u32) -> usize {
    usize::try_from(number).expect("32 bits are an index")
}
