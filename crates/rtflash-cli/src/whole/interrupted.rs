//! Drafts that a signal would leave behind.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::{fs, thread};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

static HOLDS: AtomicBool = AtomicBool::new(false);

/// The signal that is held, or 0.
static HELD: AtomicI32 = AtomicI32::new(0);

pub(super) fn hold(holds: bool) {
    watching();
    HOLDS.store(holds, Ordering::SeqCst);
}

pub(super) fn held() -> Option<i32> {
    Some(HELD.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
}

/// Removes a draft should a signal end the process, until [`forget`].
pub(super) fn watch(draft: &Path) {
    watching();
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner).push(draft.to_owned());
}

pub(super) fn forget(draft: &Path) {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| other != draft);
}

fn watching() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(start);
}

/// Removes all drafts and ends the process by a signal, as the signal does without a handler.
pub(super) fn end(signal: i32) {
    let drafts = DRAFTS.lock().unwrap_or_else(PoisonError::into_inner);
    for draft in drafts.iter() {
        let _ = fs::remove_file(draft);
    }
    let _ = emulate_default_handler(signal);
}

/// Waits for signals on a thread of its own. If that is not possible, drafts stay behind.
fn start() {
    let ignored = ignored();
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(wanted) else { return };
    thread::spawn(move || {
        for signal in signals.forever() {
            let first = HELD.swap(signal, Ordering::SeqCst) == 0;
            if !(first && HOLDS.load(Ordering::SeqCst)) {
                end(signal);
            }
        }
    });
}

/// The signals that the parent process set to be ignored (`nohup`, a shell's `&`), a bit for each,
/// from 1 up. Waiting for one would undo that.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").ok();
    let mask = status.as_deref().and_then(|status| status.lines().find_map(|line| line.strip_prefix("SigIgn:")));
    // Unknown: SIGHUP is what is ignored most.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(1 << (SIGHUP - 1))
}
