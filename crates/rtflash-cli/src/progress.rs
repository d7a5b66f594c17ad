//! Bars of progress: on standard error, where that is a terminal and nobody asked for quiet.

use std::fmt::Write;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::output::is_quiet;

/// A bar of so many steps, some of them done before. The template is one of `indicatif`, which says
/// what is shown; in it `{per_sec}` is a whole number. Nothing is drawn where nobody looks.
pub fn bar(template: &str, done: u64, all: u64) -> ProgressBar {
    let bar = if is_quiet() { ProgressBar::hidden() } else { ProgressBar::new(all) };
    let bar = bar.with_position(done);
    if let Ok(style) = ProgressStyle::with_template(template) {
        let rate = |state: &ProgressState, text: &mut dyn Write| {
            let _ = write!(text, "{:.0}", state.per_sec());
        };
        bar.set_style(style.with_key("per_sec", rate));
    }
    bar.reset_eta();
    bar
}
