//! Drafts that a signal would leave behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The drafts that there are.
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes a draft should a signal end the process, until [`forget`].
pub(super) fn watch(draft: &Path) {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(start);
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner).push(draft.to_owned());
}

/// A draft that is no more.
pub(super) fn forget(draft: &Path) {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| other != draft);
}

/// Waits for signals on a thread of its own. Where that is not possible, drafts stay behind.
fn start() {
    let ignored = ignored();
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(wanted) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            let drafts = DRAFTS.lock().unwrap_or_else(PoisonError::into_inner);
            for draft in drafts.iter() {
                let _ = fs::remove_file(draft);
            }
            // The process ends by the signal, as if nobody had waited for it.
            let _ = emulate_default_handler(signal);
        }
    });
}

/// The signals that whoever started the process wants ignored (`nohup`, a shell's `&`), a bit for
/// each, from 1 up. Waiting for one would undo that.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").ok();
    let mask = status.as_deref().and_then(|status| status.lines().find_map(|line| line.strip_prefix("SigIgn:")));
    // Unknown: SIGHUP is what is ignored most.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(1 << (SIGHUP - 1))
}
