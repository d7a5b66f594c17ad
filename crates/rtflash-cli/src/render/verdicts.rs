//! The two verdicts with which every answer about a set begins, in colour.

use rtflash_answers::{VerdictWord, Verdicts};

use crate::output::{DIM, GREEN, RED, YELLOW, paint};

pub fn text(verdicts: &Verdicts) -> String {
    let line = |line: &rtflash_answers::VerdictLine| {
        let verdict = match line.word {
            Some(VerdictWord::Yes | VerdictWord::WithOtherClusters) => paint(GREEN, line.verdict),
            Some(VerdictWord::No) => paint(RED, line.verdict),
            Some(VerdictWord::CannotTell) => paint(YELLOW, line.verdict),
            Some(VerdictWord::NotAsked) => paint(DIM, line.verdict),
            None => line.verdict.to_owned(),
        };
        format!("{}{verdict}{}\n", line.label(), line.reason)
    };
    verdicts.lines().iter().map(line).collect()
}
