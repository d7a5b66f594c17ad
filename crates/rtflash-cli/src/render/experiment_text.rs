//! The results of an experiment, for a person.

use rtflash_answers::{Summary, bandwidth_table, contenders_table, gains};

use super::numbers::count;
use super::table::answer_table;
use crate::output::{BOLD, GREEN, paint};

pub fn text(summary: &Summary, page_size: u32, directory: &str, written: &[String]) -> String {
    let drawn =
        format!("{}: {} at {}", summary.experiment, count(summary.sets, "task set"), count(summary.points, "point"));
    let mut text = format!("{} {drawn}\n", paint(GREEN, "done"));
    text += &format!("\n{}\n{}", paint(BOLD, "Schedulable"), answer_table(&contenders_table(summary)));
    let gains = gains(summary);
    if !gains.is_empty() {
        text += &format!("\n{}\n{}\n", paint(BOLD, "On the same sets"), gains.join("\n"));
    }
    if !summary.bandwidth.is_empty() {
        text += &format!(
            "\n{}\n{}",
            paint(BOLD, "Pages a second of jobs that are not real-time"),
            answer_table(&bandwidth_table(summary, page_size))
        );
    }
    text + &format!("\nin {directory}: {}\n", written.join(", "))
}
